#!/bin/sh
# Made by `memo hooks install`; `memo hooks uninstall` takes it away.
# >>> memo hooks >>>
{ [ -f "${GIT_DIR:-.git}/memo/cookies/doorbell" ] && echo >>"${GIT_DIR:-.git}/memo/cookies/doorbell"; } 2>/dev/null || :
if [ -f "${GIT_DIR:-.git}/memo/cookies/autostart" ]; then (memo_top=$PWD; cd "${GIT_DIR:-.git}/memo/cookies" && exec memod run --root "$memo_top") </dev/null >/dev/null 2>&1 & fi
:
# <<< memo hooks <<<
