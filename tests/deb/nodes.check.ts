/** Two instances of `devmgr@.service` on one PostgreSQL, on a Debian that has booted: start, drain, restart, a killed node. */
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Machine } from './machine.ts';
import { present } from './packages.ts';
import { inDebian } from './roots.ts';

const ports = { a: 7471, b: 7472 } as const;
type Name = keyof typeof ports;
const urlOf = (name: Name) => `http://127.0.0.1:${ports[name]}`;

/** As in docs/three-nodes.md, with both nodes and the database on one machine. */
const prepare = `set -e
  install -d -m 755 /etc/devmgr
  install -d -m 700 -o devmgr -g devmgr /etc/devmgr/secrets
  printf 'secret of the store' >/etc/devmgr/store-password
  chmod 600 /etc/devmgr/store-password
  chown devmgr /etc/devmgr/store-password
  runuser -u postgres -- psql -q -c "CREATE ROLE devmgr LOGIN PASSWORD 'secret of the store'"
  runuser -u postgres -- createdb --owner=devmgr --locale=C --encoding=UTF8 --template=template0 devmgr
  runuser -u devmgr -- env DEVMGR_STORE_PASSWORD_FILE=/etc/devmgr/store-password devmgr daemon init \\
    --home /var/lib/devmgr --secrets /etc/devmgr/secrets --store postgres://devmgr@localhost/devmgr
  for node in a:${ports.a} b:${ports.b}; do
    printf 'DEVMGR_STORE=postgres://devmgr@localhost/devmgr\\nDEVMGR_RUN_OPTIONS=--port %s\\n' \${node#*:} >/etc/devmgr/\${node%:*}.env
  done`;

inDebian('two nodes as services of one machine', () => {
  let machine: Machine;

  beforeAll(async () => {
    machine = await Machine.boot('database');
    copyFileSync(present.file, join(machine.folder, 'root', present.name));
    await asRoot(`apt-get install -qq -y /root/${present.name}`);
    await asRoot(prepare);
  });
  afterAll(() => machine?.end());

  /** The output of the script. Fails if it does. */
  async function asRoot(script: string): Promise<string> {
    const { code, output } = await machine.run('root', script);
    expect(code, output).toBe(0);
    return output.trim();
  }

  /** The answer of the node's health; null if it does not answer. */
  async function health(name: Name): Promise<{ status: number; reason: string | null; node: string } | null> {
    const script = `const r = await fetch('${urlOf(name)}/api/health').catch(() => null);
      console.log(JSON.stringify(r && { ...(await r.json()).data, status: r.status }))`;
    const child = machine.enterNetwork(process.execPath, '--input-type=module', '-e', script);
    const [text] = await once(child.stdout!, 'data');
    return JSON.parse(String(text));
  }

  const isReady = (name: Name) =>
    expect.poll(() => health(name), { timeout: 60_000 }).toMatchObject({ status: 200, node: name });
  const property = (name: Name, which: string) => asRoot(`systemctl show --value -p ${which} devmgr@${name}`);

  it('start, each with its own name, home and copy of the password', async () => {
    await asRoot('systemctl enable --now devmgr@a devmgr@b');
    await Promise.all([isReady('a'), isReady('b')]);
    for (const name of ['a', 'b'] as const) {
      expect(await asRoot(`stat -c '%U %a' /var/lib/devmgr-nodes/${name}`)).toBe('devmgr 700');
      expect(await asRoot(`stat -c %U /proc/$(systemctl show --value -p MainPID devmgr@${name})`)).toBe('devmgr');
    }
  });

  it('keep to what they need', async () => {
    const security = await asRoot('systemd-analyze security --no-pager devmgr@a.service | tail -n 1');
    expect(security).toMatch(/level.* [01]\.\d OK/);
  });

  it('have one registry', async () => {
    const login = `devmgr login admin --server ${urlOf('a')},${urlOf('b')} --password-stdin`;
    await asRoot(`${login} </var/lib/devmgr/initial-admin-password`);
    await asRoot('devmgr register --type UKEY --serial UK-1 --manufacturer Acme --model K1');
    await asRoot(
      `devmgr login admin --server ${urlOf('b')} --profile b --password-stdin </var/lib/devmgr/initial-admin-password`,
    );
    expect(await asRoot('devmgr --profile b list')).toContain('UK-1');
  });

  it('drain at a stop: the node reports that it is stopping, still serves, and ends without a fault; the other one continues', async () => {
    const stopped = asRoot('systemctl stop devmgr@a');
    await expect
      .poll(() => health('a'), { timeout: 10_000, interval: 100 })
      .toMatchObject({ status: 503, reason: 'the daemon is stopping' });
    expect(await asRoot('devmgr list')).toContain('UK-1');
    await stopped;
    expect(await health('a')).toBeNull();
    expect(await property('a', 'ActiveState')).toBe('inactive');
    expect(await property('a', 'Result')).toBe('success');
    expect(await health('b')).toMatchObject({ status: 200 });
    // The first address does not answer.
    expect(await asRoot('devmgr list')).toContain('UK-1');
  });

  it('start again after a stop, and after a crash on their own', async () => {
    await asRoot('systemctl start devmgr@a');
    await isReady('a');
    await asRoot('systemctl kill --signal=KILL devmgr@b');
    await expect.poll(() => property('b', 'NRestarts'), { timeout: 30_000 }).toBe('1');
    await isReady('b');
    expect(await asRoot('devmgr list')).toContain('UK-1');
  });

  it('restart one after the other without a failed request', async () => {
    for (const name of ['a', 'b'] as const) {
      const before = await property(name, 'MainPID');
      const restarted = asRoot(`systemctl restart devmgr@${name}`);
      for (let done = false; !done; ) {
        done = await Promise.race([restarted.then(() => true), asRoot('devmgr list').then(() => false)]);
      }
      expect(await property(name, 'MainPID')).not.toBe(before);
      await isReady(name);
    }
  });
});
