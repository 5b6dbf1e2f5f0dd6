#!/bin/sh
# What tests need of the system and no Python package brings: a browser with fonts, and PostgreSQL.
# As root on Debian, what is missing is installed; elsewhere it is named, and the tests that need it skip.
set -eu

missing=""
command -v chromium >/dev/null 2>&1 || missing="$missing chromium"
[ -d /usr/share/fonts/truetype/dejavu ] || missing="$missing fonts-dejavu"
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1 || missing="$missing postgresql"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing:$missing"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    # shellcheck disable=SC2086  # one word a package
    apt-get install -qq -y --no-install-recommends $missing >/dev/null
else
    echo "not installed, tests that need them skip:$missing"
fi
