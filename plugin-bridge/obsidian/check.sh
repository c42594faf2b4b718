#!/bin/sh
# Types, style and tests of the plugin. What this machine lacks is said, and left out; in CI nothing may be.
set -eu
cd "$(dirname "$0")"

left_out() {
    echo "left out: $1"
    test -z "${CI:-}" || exit 1
}

if ! node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' 2>/dev/null || ! command -v npm >/dev/null; then
    left_out "the Obsidian plugin's tests: there is no Node 20 or newer with npm here"
    exit 0
fi
if ! cmp -s package-lock.json node_modules/.checked-lock.json; then
    npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
    cp package-lock.json node_modules/.checked-lock.json
fi
npx --no-install tsc -p .
npx --no-install eslint --max-warnings 0 .
npx --no-install vitest run
if test -x "${CHROMIUM:-/usr/bin/chromium}" || test -x /usr/bin/google-chrome; then
    npm run -s browser
else
    left_out "the plugin in a browser: there is no Chromium here (apt install chromium fonts-noto-color-emoji)"
fi
