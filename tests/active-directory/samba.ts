/** A domain of Active Directory: Samba's, with its data in a temporary folder, on an address of loopback of its own. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Attribute, Change, Client } from 'ldapts';
import { poll } from '../../src/delivery/wait.ts';
import { issueCertificate, makeAuthority } from '../support/certificates.ts';
import { serveDirectory } from '../support/directory-server.ts';
import { findTool } from '../support/needs.ts';

/** Samba serves LDAP on the ports 389 and 636 alone. */
const ADDRESS = '127.0.0.77';
/** Another one lacks Debian's module for Samba. */
const DEBIAN_PYTHON = '/usr/bin/python3';
const PASSWORD = 'Word-0f-the-admin';
const domain = 'DC=example,DC=test';
const nameOf = (person: string, unit: string) => `CN=${person},OU=${unit},${domain}`;

/** How a daemon finds the domain: the reader is an account without rights of its own. */
export const reading = {
  url: `ldaps://${ADDRESS}`,
  base: domain,
  bindDn: `CN=reader,CN=Users,${domain}`,
  bindPassword: PASSWORD,
} as const;

export interface Domain {
  /** The certificate of the authority (PEM). */
  readonly ca: string;
  change(person: string, attribute: string, value: string): Promise<void>;
  /** Moves a person to another unit, with another name (CN). */
  move(person: string, to: string): Promise<void>;
  remove(person: string): Promise<void>;
  /** Makes a group with these members: persons, or names (DN) of groups. Resolves with its name (DN). */
  group(name: string, members: readonly string[]): Promise<string>;
  /** Adds one group to another. */
  nest(group: string, inner: string): Promise<void>;
  /** Makes a group that a person is a member of the primary one. */
  makePrimary(person: string, group: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts with these people, in the unit `people`. */
export async function startDomain(people: readonly string[]): Promise<Domain> {
  const home = await mkdtemp(join(tmpdir(), 'devmgr-samba-'));
  const config = join(home, 'etc', 'smb.conf');
  const database = join(home, 'private', 'sam.ldb');
  const run = (tool: string, ...args: readonly string[]) =>
    execFileSync(findTool(tool) ?? tool, args, { stdio: 'pipe' });
  const names = ['--realm=EXAMPLE.TEST', '--domain=EXAMPLE', '--host-name=dc', `--host-ip=${ADDRESS}`];
  const kind = ['--server-role=dc', '--dns-backend=NONE', '--backend-store=mdb', '--option=vfs objects='];
  run('samba-tool', 'domain', 'provision', ...names, ...kind, `--adminpass=${PASSWORD}`, `--targetdir=${home}`);
  run('samba-tool', 'user', 'create', 'reader', PASSWORD, '-H', database, '-s', config);
  await writeFile(join(home, 'people.ldif'), [...['people', 'moved'].map(unit), ...people.map(person)].join('\n'));
  run(DEBIAN_PYTHON, join(import.meta.dirname, 'load.py'), config, database, join(home, 'people.ldif'));

  const authority = makeAuthority(home, 'authority');
  const { cert, key } = issueCertificate(home, authority, `IP:${ADDRESS}`);
  const tls = [`tls certfile=${cert}`, `tls keyfile=${key}`, `tls cafile=${authority.cert}`];
  const address = [`interfaces=${ADDRESS}/8`, 'bind interfaces only=yes', 'server services=ldap'];
  const options = [...tls, ...address].map(option => `--option=${option}`);
  const ca = await readFile(authority.cert, 'utf8');
  const client = new Client({ url: reading.url, tlsOptions: { ca } });
  const args = ['-i', '-M', 'single', '-s', config, ...options];
  const { replace, stop } = serveDirectory(findTool('samba')!, args, client, home);
  const signIn = () =>
    client.bind(`CN=Administrator,CN=Users,${domain}`, PASSWORD).then(
      () => true,
      () => null,
    );
  if (!(await poll(signIn, { everyMs: 100, forMs: 60_000 }))) throw new Error('samba does not answer');
  return {
    ca,
    change: (name, type, value) => replace(nameOf(name, 'people'), { [type]: value }),
    move: (name, to) => client.modifyDN(nameOf(name, 'people'), nameOf(to, 'moved')),
    remove: name => client.del(nameOf(name, 'people')),
    async group(name, members) {
      const dn = nameOf(name, 'people');
      const member = members.map(each => (each.includes('=') ? each : nameOf(each, 'people')));
      await client.add(dn, { objectClass: 'group', member });
      return dn;
    },
    nest: (group, inner) =>
      client.modify(
        group,
        new Change({ operation: 'add', modification: new Attribute({ type: 'member', values: [inner] }) }),
      ),
    async makePrimary(name, group) {
      const attributes = ['primaryGroupToken'];
      const { searchEntries } = await client.search(group, { scope: 'base', attributes });
      const primaryGroupID = String(searchEntries[0]!.primaryGroupToken);
      await replace(nameOf(name, 'people'), { primaryGroupID });
    },
    stop,
  };
}

const unit = (name: string) => `dn: OU=${name},${domain}\nobjectClass: organizationalUnit\n`;
const person = (name: string) =>
  `dn: ${nameOf(name, 'people')}\nobjectClass: user\nsAMAccountName: ${name}\nmail: ${name}@example.com\nuserAccountControl: ${ENABLED}\n`;

/** Values of userAccountControl. */
export const ENABLED = '544';
export const DISABLED = '546';
