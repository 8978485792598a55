import planar

print(planar.__version__)
