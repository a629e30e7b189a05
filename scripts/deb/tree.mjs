import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { root } from '../lib/project.mjs';

const packaging = join(root, 'packaging');

/**
 * Puts every file of the package but its papers and control files into `tree`, which stands for `/`. `program` is a command line of
 * devmgr that runs on this machine.
 */
export function layOut(tree, executable, [program, ...before]) {
  const asked = (...args) => execFileSync(program, [...before, ...args], { encoding: 'utf8', env: { HOME: tmpdir() } });
  const text = (...path) => readFileSync(join(packaging, ...path), 'utf8');
  put(tree, 'usr/bin/devmgr', executable, 0o755);
  put(tree, 'usr/share/man/man1/devmgr.1.gz', packed(asked('man')));
  put(tree, 'usr/share/bash-completion/completions/devmgr', Buffer.from(asked('completion', 'bash')));
  put(tree, 'usr/share/zsh/vendor-completions/_devmgr', Buffer.from(asked('completion', 'zsh')));
  put(tree, 'usr/share/fish/vendor_completions.d/devmgr.fish', Buffer.from(asked('completion', 'fish')));
  put(tree, 'usr/lib/udev/rules.d/70-devmgr.rules', installed(text('udev/70-devmgr.rules')));
  put(tree, 'usr/share/polkit-1/rules.d/50-devmgr.rules', installed(text('polkit/50-devmgr.rules')));
  put(tree, 'usr/lib/systemd/system/devmgr.service', installed(text('systemd/devmgr.service')));
  put(tree, 'usr/lib/systemd/system/devmgr@.service', installed(text('systemd/devmgr@.service')));
  put(tree, 'usr/lib/systemd/user/devmgr.service', installed(text('systemd/devmgr-user.service')));
  put(tree, 'usr/lib/devmgr/devmgr-ssh-keys', Buffer.from(text('ssh/devmgr-ssh-keys')), 0o755);
  put(tree, 'etc/default/devmgr', Buffer.from(text('debian/default')));
  for (const name of ['registry.cfg', 'postgres.cfg'])
    put(tree, `usr/share/doc/devmgr/examples/haproxy/${name}`, Buffer.from(text(`haproxy/${name}`)));
  for (const name of ['patroni.yml', 'patroni.env', 'etcd.env'])
    put(tree, `usr/share/doc/devmgr/examples/patroni/${name}`, Buffer.from(text(`patroni/${name}`)));
  for (const name of ['devmgr.rules.yml', 'devmgr.dashboard.json'])
    put(tree, `usr/share/doc/devmgr/examples/prometheus/${name}`, Buffer.from(text(`prometheus/${name}`)));
  put(tree, 'usr/share/doc/devmgr/README.Debian', Buffer.from(text('debian/README.Debian')));
  for (const page of pages()) put(tree, `usr/share/doc/devmgr/${page}`, join(root, 'docs', page));
  put(tree, 'usr/share/lintian/overrides/devmgr', Buffer.from(text('debian/lintian-overrides')));
}

/** The documentation without what is for those who change the program. */
function pages() {
  const others = /^(?:decisions\/|README|architecture|dependencies|performance)/;
  return readdirSync(join(root, 'docs'), { recursive: true })
    .filter(name => /\.(?:md|svg|png)$/.test(name) && !others.test(name))
    .sort();
}

/** Writes a file of the package, with the folders above it. `source` is its content, or the file to copy. */
export function put(tree, path, source, mode = 0o644) {
  const file = join(tree, path);
  mkdirSync(dirname(file), { recursive: true });
  if (typeof source === 'string') copyFileSync(source, file);
  else writeFileSync(file, source);
  chmodSync(file, mode);
  for (let folder = dirname(file); folder.startsWith(tree); folder = dirname(folder)) chmodSync(folder, 0o755);
}

/** As `gzip -9n` packs it. */
export function packed(content) {
  return gzipSync(content, { level: 9 });
}

/**
 * A file that people may also install by hand, as the package has it: without the comment at its head, which shows where
 * it goes, and with the program at its place.
 */
function installed(text) {
  const body = text.replace(/^(?:(?:#|\/\/) .*\n)+/, '');
  return Buffer.from(body.replace('/usr/bin/env devmgr', '/usr/bin/devmgr'));
}
