#!/bin/sh
# Builds the image devmgr:VERSION with Debian's debootstrap and buildah, without Docker and without a registry of images:
#   npm run build:bin && sudo apt-get install buildah debootstrap && sudo packaging/image.sh
# SUITE and ARCHIVE choose the release of Debian and its archive; BASE_TAR is a root that debootstrap has made before.
set -eu
cd "$(dirname "$0")/.."
suite=${SUITE:-bookworm}
version=$(sed -n 's/^  "version": "\([^"]*\)",$/\1/p' package.json)

container=$(buildah from scratch)
trap 'buildah rm "$container" >/dev/null' EXIT
root=$(buildah mount "$container")
if [ -n "${BASE_TAR:-}" ]; then
  tar -C "$root" -xpf "$BASE_TAR"
else
  debootstrap --variant=minbase "$suite" "$root" "${ARCHIVE:-http://deb.debian.org/debian}"
fi
rm -rf "$root"/usr/share/doc/* "$root"/usr/share/info/* "$root"/usr/share/locale/* "$root"/usr/share/man/* \
  "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/*.log "$root"/var/log/apt/*
buildah umount "$container" >/dev/null
buildah commit --quiet "$container" "devmgr-base:$suite" >/dev/null

# A health check is part of the format of Docker only.
buildah build --isolation chroot --format docker --pull-never --build-arg "BASE=localhost/devmgr-base:$suite" \
  --ignorefile packaging/Dockerfile.dockerignore -f packaging/Dockerfile -t "devmgr:$version" .
echo "built devmgr:$version"
