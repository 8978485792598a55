#!/usr/bin/env bash
# Create the virtual environment, install planar into it and, where the machine allows, CHOLMOD.
# Called by the Makefile from the root of the repository. Asks nothing, so it runs without a terminal.
#
#   PYTHON           interpreter to start from                           (python3)
#   VENV             where the environment goes                          (.venv)
#   PLANAR_CHOLMOD   0 = do not try to install CHOLMOD                   (1)
#   CHOLMOD_HEADERS  directories searched for cholmod.h, colon-separated (the usual ones)
set -euo pipefail

PYTHON=${PYTHON:-python3}
VENV=${VENV:-.venv}
PY=$VENV/bin/python
LOG=$VENV/cholmod.log
HEADERS=${CHOLMOD_HEADERS:-/usr/include/suitesparse:/usr/include:/usr/local/include/suitesparse:/usr/local/include:/opt/homebrew/include/suitesparse${CONDA_PREFIX:+:$CONDA_PREFIX/include/suitesparse}}

say() { printf 'planar setup: %s\n' "$*"; }
die() { printf 'planar setup: %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }
# limit SECONDS command...: macOS has no timeout(1), there the command runs without a limit
limit() { if have timeout; then timeout -k 5 "$@"; else shift; "$@"; fi; }

# --- environment ---------------------------------------------------------------------------------

make_venv() {
    have "$PYTHON" || die "'$PYTHON' not found; install Python 3.11 or newer, or choose one: make PYTHON=/path/to/python3"
    "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        die "planar needs Python 3.11 or newer, '$PYTHON' is $("$PYTHON" -V 2>&1); choose another: make PYTHON=python3.12"
    "$PYTHON" -c 'import venv, ensurepip' 2>/dev/null ||
        die "'$PYTHON' cannot create environments (venv or ensurepip is missing); on Debian and Ubuntu: sudo apt-get install python3-venv"
    if [ -e "$VENV" ] && [ ! -e "$VENV/pyvenv.cfg" ]; then
        die "'$VENV' exists and is not a virtual environment; remove it or choose another: make VENV=.venv2"
    fi
    say "creating $VENV with $("$PYTHON" -V)"
    "$PYTHON" -m venv --clear "$VENV"
}

# --- CHOLMOD ---------------------------------------------------------------------------------------

have_cholmod() { "$PY" -c 'import sksparse.cholmod' >/dev/null 2>&1; }

have_headers() {
    local dir
    local IFS=:
    for dir in $HEADERS; do [ -e "$dir/cholmod.h" ] && return 0; done
    return 1
}

have_python_headers() { "$PY" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))'; }

# apt SECONDS arguments...: gives up quickly when there is no network or another apt holds the lock
apt() {
    local seconds=$1; shift
    limit "$seconds" $AS_ROOT env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Acquire::Retries=0 \
        -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10 -o DPkg::Lock::Timeout=20 "$@" </dev/null
}

apt_install() {
    AS_ROOT=
    have apt-get || { echo "no apt-get on this machine"; return 1; }
    if [ "$(id -u)" != 0 ]; then
        have sudo && sudo -n true 2>/dev/null || { echo "apt-get needs root"; return 1; }
        AS_ROOT="sudo -n"
    fi
    local install="install --no-install-recommends" code=0
    # The package lists may be absent or old, hence the second attempt (not after 124, the time limit).
    # Only the download has a short limit: what is on the disk is then installed without being cut off half-way.
    apt 120 $install --download-only "$@" || code=$?
    case $code in
        0) ;;
        124) return 1 ;;
        *) apt 60 update && apt 120 $install --download-only "$@" || return 1 ;;
    esac
    apt 900 $install --no-download "$@"
}

install_cholmod() {
    local packages=() requirement
    have_headers || packages+=(libsuitesparse-dev)
    have "${CC:-cc}" || have gcc || packages+=(gcc libc6-dev)
    have_python_headers || packages+=(python3-dev)
    if [ ${#packages[@]} -gt 0 ]; then
        say "CHOLMOD: apt-get install ${packages[*]}" >&3
        apt_install "${packages[@]}" || return 1
    fi
    say "CHOLMOD: compiling scikit-sparse" >&3
    # The version stands in pyproject.toml only.
    requirement=$("$PY" -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["cholmod"])')
    limit 600 "$PY" -m pip install --no-input "$requirement" </dev/null || return 1
    "$PY" -c 'import sksparse.cholmod'
}

# --- go --------------------------------------------------------------------------------------------

export PIP_DISABLE_PIP_VERSION_CHECK=1
"$PY" -m pip --version >/dev/null 2>&1 || make_venv
say "installing planar and its libraries into $VENV"
"$PY" -m pip install --quiet --no-input --editable ".[dev]" </dev/null ||
    die "pip could not install planar's libraries; its message stands above"

if have_cholmod; then
    say "CHOLMOD is there"
elif [ "${PLANAR_CHOLMOD:-1}" = 0 ]; then
    say "CHOLMOD left out (PLANAR_CHOLMOD=0); banded LAPACK and SuperLU take over"
elif install_cholmod 3>&1 >"$LOG" 2>&1; then
    say "CHOLMOD is there"
else
    say "CHOLMOD is not available here (see $LOG); banded LAPACK and SuperLU take over, with the same results"
fi
