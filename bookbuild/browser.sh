#!/bin/sh
# What the browser tests need besides Python: Chromium and a font with Korean letters.
lacking=""
command -v chromium >/dev/null || command -v google-chrome >/dev/null || lacking="chromium"
[ -n "$(fc-list :lang=ko 2>/dev/null)" ] || lacking="$lacking fonts-nanum"
[ -n "$lacking" ] || exit 0
lacking=$(echo $lacking)  # one space between two names, none around them

if [ "$(id -u)" = 0 ]; then as_root=""; elif sudo -n true 2>/dev/null; then as_root="sudo -n"; else as_root="no"; fi
if [ "$as_root" != no ] && command -v apt-get >/dev/null; then
  echo "Installing with apt: $lacking"
  $as_root apt-get update -qq && DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $lacking >/dev/null && exit 0
fi
echo "Please install $lacking (Debian, Ubuntu: sudo apt install $lacking). Until then the tests in tests/browser are skipped or show Korean without letters."
