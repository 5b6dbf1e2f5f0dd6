#!/usr/bin/env bash
# The gate of action.yml. Inputs are variables INPUT_*; the decision and the exit status go to $GITHUB_OUTPUT.
set -uo pipefail

arguments=()
while IFS= read -r file; do
    [ -n "$file" ] && arguments+=("$file")
done <<<"${INPUT_SCORES:?the input scores is missing}"
[ -n "${INPUT_A:-}" ] && arguments+=("$INPUT_A")
[ -n "${INPUT_B:-}" ] && arguments+=("$INPUT_B")
arguments+=(--gate)
[ -n "${INPUT_MARGIN:-}" ] && arguments+=(--margin "$INPUT_MARGIN")
[ -n "${INPUT_INCONCLUSIVE:-}" ] && arguments+=(--inconclusive "$INPUT_INCONCLUSIVE")
[ -n "${INPUT_JUNIT:-}" ] && arguments+=(--junit "$INPUT_JUNIT")
if [ -n "${INPUT_OPTIONS:-}" ]; then
    read -ra more <<<"$INPUT_OPTIONS"
    arguments+=("${more[@]}")
fi

status=0
output=$(qassay compare "${arguments[@]}") || status=$?
printf '%s\n' "$output"
# The decision is the first word of the first line that begins with one.
decision=$(printf '%s\n' "$output" | grep -oE '^(ALLOW|REJECT|INCONCLUSIVE):' | head -n 1 | tr -d ':')
if [ "$decision" = INCONCLUSIVE ]; then
    echo "::warning::Qassay: these questions do not show whether the candidate is good enough"
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    printf 'decision=%s\nstatus=%s\n' "$decision" "$status" >>"$GITHUB_OUTPUT"
fi
exit "$status"
