/** A real directory: OpenLDAP's slapd with its data in a temporary folder, and a receiver in front of it that can cut answers off. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Attribute, Change, Client } from 'ldapts';
import { poll } from '../../src/delivery/wait.ts';
import { makeCertificate } from './certificates.ts';
import { serveDirectory } from './directory-server.ts';
import { freePort } from './free-port.ts';
import { findTool, needs } from './needs.ts';

/** `describe` for tests that need the directory. */
export const withSlapd = needs(['slapd', 'openssl'], 'slapd openssl');

const base = 'dc=example,dc=com';
export const people = `ou=people,${base}`;
const others = `ou=others,${base}`;
const groups = `ou=groups,${base}`;
const admin = `cn=admin,${base}`;
const password = 'the word of the reader';

/** How a daemon finds the directory. */
export const reading = { base, bindDn: admin, bindPassword: password } as const;

export interface Slapd {
  readonly url: string;
  readonly tlsUrl: string;
  /** The certificate of `tlsUrl` (PEM). */
  readonly ca: string;
  readonly client: Client;
  add(uid: string, more?: Readonly<Record<string, string>>): Promise<void>;
  /** Gives a person another uid. */
  rename(uid: string, to: string): Promise<void>;
  /** Gives a person a further uid. */
  alias(uid: string, other: string): Promise<void>;
  /** Moves a person to another unit. */
  move(uid: string): Promise<void>;
  remove(uid: string): Promise<void>;
  change(uid: string, values: Readonly<Record<string, string>>): Promise<void>;
  /** Adds one group to another. */
  nest(group: string, inner: string): Promise<void>;
  /** Takes a member out of a group. */
  removeFrom(group: string, uid: string): Promise<void>;
  /** Makes a group with these members: uids, or names (DN) of groups. */
  group(name: string, members: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

const dnOf = (uid: string, unit = people) => `uid=${uid},${unit}`;

const personOf = (uid: string) => ({
  objectClass: ['inetOrgPerson'],
  uid,
  cn: `Person ${uid}`,
  sn: uid,
  mail: `${uid}@example.com`,
});

/** The people with whom it starts have not changed since then. */
const longAgo = { createTimestamp: '20200101000000Z', modifyTimestamp: '20200101000000Z' };

function ldif(entries: readonly (readonly [dn: string, values: object])[]): string {
  const lines = ([name, value]: [string, string | string[]]) => [value].flat().map(text => `${name}: ${text}`);
  return entries
    .map(([dn, values]) => [`dn: ${dn}`, ...Object.entries(values).flatMap(lines), '', ''].join('\n'))
    .join('');
}

/** Starts with these people. */
export async function startSlapd(uids: readonly string[] = []): Promise<Slapd> {
  const home = await mkdtemp(join(tmpdir(), 'devmgr-slapd-'));
  await mkdir(join(home, 'data'));
  const { cert, key } = makeCertificate(home, 'slapd', ['rsa:2048']);
  const config = join(home, 'slapd.conf');
  const schema = ['core', 'cosine', 'inetorgperson'].map(name => `include /etc/ldap/schema/${name}.schema`);
  const modules = ['back_mdb', 'memberof'].map(name => `moduleload ${name}`);
  const lines = [
    ...schema,
    'modulepath /usr/lib/ldap',
    ...modules,
    `TLSCertificateFile ${cert}`,
    `TLSCertificateKeyFile ${key}`,
    `pidfile ${join(home, 'pid')}`,
    'sizelimit unlimited',
    'database mdb',
    `suffix "${base}"`,
    `rootdn "${admin}"`,
    `rootpw "${password}"`,
    `directory ${join(home, 'data')}`,
    'maxsize 1073741824',
    'dbnosync',
    'index objectClass,entryUUID,entryCSN,modifyTimestamp,uid eq',
    'overlay memberof',
  ];
  await writeFile(config, `${lines.join('\n')}\n`);
  const unit = (dn: string): [string, object] => [
    dn,
    { objectClass: 'organizationalUnit', ou: dn.slice(3, dn.indexOf(',')) },
  ];
  const root: [string, object] = [base, { objectClass: ['dcObject', 'organization'], dc: 'example', o: 'example' }];
  const persons = uids.map((uid): [string, object] => [dnOf(uid), { ...personOf(uid), ...longAgo }]);
  await writeFile(join(home, 'all.ldif'), ldif([root, unit(people), unit(others), unit(groups), ...persons]));
  execFileSync(findTool('slapadd')!, ['-q', '-f', config, '-l', join(home, 'all.ldif')], { stdio: 'pipe' });
  const port = await freePort(2);
  const tlsPort = port + 1;
  const url = `ldap://127.0.0.1:${port}`;
  const tlsUrl = `ldaps://127.0.0.1:${tlsPort}`;
  const client = new Client({ url });
  const args = ['-d', '0', '-f', config, '-h', `${url}/ ${tlsUrl}/`];
  const { replace, stop } = serveDirectory(findTool('slapd')!, args, client, home);
  await listens(port);
  await client.bind(admin, password);
  return {
    url,
    tlsUrl,
    ca: await readFile(cert, 'utf8'),
    client,
    add: (uid, more = {}) => client.add(dnOf(uid), { ...personOf(uid), ...more }),
    rename: (uid, to) => client.modifyDN(dnOf(uid), `uid=${to}`),
    alias: (uid, other) =>
      client.modify(
        dnOf(uid),
        new Change({ operation: 'add', modification: new Attribute({ type: 'uid', values: [other] }) }),
      ),
    move: uid => client.modifyDN(dnOf(uid), dnOf(uid, others)),
    remove: uid => client.del(dnOf(uid)),
    change: (uid, values) => replace(dnOf(uid), values),
    nest: (group, inner) =>
      client.modify(
        group,
        new Change({ operation: 'add', modification: new Attribute({ type: 'member', values: [inner] }) }),
      ),
    removeFrom: (group, uid) =>
      client.modify(
        `cn=${group},${groups}`,
        new Change({ operation: 'delete', modification: new Attribute({ type: 'member', values: [dnOf(uid)] }) }),
      ),
    async group(name, members) {
      const dn = `cn=${name},${groups}`;
      await client.add(dn, {
        objectClass: ['groupOfNames'],
        cn: name,
        member: members.map(name => (name.includes('=') ? name : dnOf(name))),
      });
      return dn;
    },
    stop,
  };
}

async function listens(port: number): Promise<void> {
  const isOpen = () =>
    new Promise<true | null>(done => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        done(true);
      });
      socket.once('error', () => done(null));
    });
  if (!(await poll(isOpen, { everyMs: 20, forMs: 20_000 }))) throw new Error('slapd does not listen');
}

/** A server in front of a directory. */
export interface CuttingServer {
  readonly url: string;
  /** The next connections end after so many bytes of answers. */
  bytes: number;
  stop(): Promise<void>;
}

/** Passes everything on, until it cuts a connection off. */
export async function cutting(url: string): Promise<CuttingServer> {
  const target = Number(new URL(url).port);
  const made = { bytes: Number.POSITIVE_INFINITY };
  const server = createServer(client => {
    let left = made.bytes;
    const upstream = connect(target, '127.0.0.1');
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
    client.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => {
      client.write(chunk.subarray(0, Math.max(0, left)));
      left -= chunk.length;
      if (left <= 0) client.destroySoon();
    });
  });
  return Object.assign(made, await listening(server));
}

/** Answers each request of a connection with the next of these bytes, whatever it is. */
export function answering(answers: readonly Buffer[]): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer(client => {
    let requests = 0;
    client.on('error', () => {}).on('data', () => client.write(answers[requests++] ?? ''));
  });
  return listening(server);
}

async function listening(server: Server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `ldap://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => new Promise<void>(done => server.close(() => done())),
  };
}
