/** A systemd of a user, for one script: in its own namespaces, so that neither this machine nor its user notices. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

const cgroups = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'].find(place => existsSync(join(place, 'cgroup.procs')));
const manager = ['/lib/systemd/systemd', '/usr/lib/systemd/systemd'].find(file => existsSync(file));

/** Whether there can be one: it takes root and version 2 of cgroups. */
export const canRunUserSystemd = process.getuid?.() === 0 && cgroups !== undefined && manager !== undefined;

const before = `
mount -t tmpfs none /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
mount -t tmpfs none /run
mkdir -p /run/systemd/system /run/user/0
chmod 700 /run/user/0
export XDG_RUNTIME_DIR=/run/user/0
${manager} --user >/dev/null 2>&1 &
for i in $(seq 200); do systemctl --user is-system-running >/dev/null 2>&1 && break; sleep 0.05; done
`;

/** Runs a shell script where `systemctl --user` works; everything it starts is gone afterwards. */
export function withUserSystemd(script: string, env: Readonly<Record<string, string | undefined>>) {
  // A name of its own: the group of an earlier run with this process ID may still be there.
  const group = mkdtempSync(join(cgroups ?? '', 'devmgr-test-'));
  const enter = `echo 0 >"$1/cgroup.procs"; exec unshare --mount --cgroup --pid --fork --mount-proc --propagation private sh -euc "$0"`;
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', enter, `${before}\n${script}`, group], {
    encoding: 'utf8',
    env: env as NodeJS.ProcessEnv,
    timeout: 60_000,
  });
  removeGroup(group);
  return { code: status, stdout, stderr };
}

function removeGroup(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeGroup(join(folder, entry.name));
  try {
    rmdirSync(folder);
  } catch {
    // The kernel still counts a process that has ended; an empty group of a name that is not used again does no harm.
  }
}
