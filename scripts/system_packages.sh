#!/bin/sh
# What tests need of the system and no Python package brings: a browser with fonts, PostgreSQL, and Node.js; with the word
# `soak` also the servers that operators put in front of the application, and a second browser.
# As root on Debian, what is missing is installed; elsewhere it is named, and the tests that need it skip.
set -eu
# A user's path may leave out where Debian puts servers.
PATH="$PATH:/usr/sbin"

missing=""
need() { # a program, and the package that brings it
    command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}

need chromium chromium
[ -d /usr/share/fonts/truetype/dejavu ] || missing="$missing fonts-dejavu"
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || need initdb postgresql
need node nodejs
need npm npm
if [ "${1:-}" = soak ]; then
    need nginx nginx-light
    need caddy caddy
    need firefox-esr firefox-esr
    need openssl openssl
    need systemd-analyze systemd
fi
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
