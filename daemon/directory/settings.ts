/** The settings of the directory, and what an administrator needs to know of it. */

import { X509Certificate } from 'node:crypto';
import { inputError } from '../../src/contract/codes.ts';
import type { DirectorySettings } from '../../src/contract/directory.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import type { directoryChecks } from '../../src/contract/values.ts';
import { type Binding, digest, openSecret, sealSecret } from '../base/sealed.ts';
import { iso } from '../base/time.ts';
import { type Context, commitLast, retrying, Service, type ServiceParts } from '../requests/context.ts';
import { setSettings, settingsIn } from '../store/document.ts';
import * as domain from './decisions.ts';
import { DirectoryFailure, urlProblem } from './ldap/connection.ts';
import type { DirectoryReader } from './ldap/reader.ts';

/** Dependencies of the service. */
interface DirectorySettingsParts extends ServiceParts {
  /** The key that seals secrets: that of all nodes. */
  readonly sealingKey: Uint8Array;
}

type Finding = Data<'testDirectory'>['findings'][number] & {
  readonly check: (typeof directoryChecks)[number];
};

/** Settings shown without a directory, which are the defaults of a request. */
const off = {
  name: null,
  url: null,
  base: null,
  filter: null,
  attributes: { userName: null, name: null, email: null, id: null, disabled: null, groups: null },
  groups: [],
  bindDn: null,
  sealed: null,
  ca: null,
  everyMinutes: 15,
  fullEveryMinutes: 60,
};

/** The data that the encryption of the password authenticates. */
const boundOf = ({ url, bindDn }: Pick<domain.DirectoryConfig, 'url' | 'bindDn'>): Binding => ({
  subject: 0,
  place: digest('directory', url, bindDn),
});

/** A refusal is thrown as an `ApiError`. */
export class DirectorySettingsService extends Service<DirectorySettingsParts> {
  async read(): Promise<domain.DirectoryRecord> {
    return settingsIn(await this.store.document(domain.DIRECTORY), null);
  }

  async show(): Promise<DirectorySettings> {
    return presented((await this.read()).config, await this.lastRun());
  }

  async set(context: Context, body: Body<'setDirectory'>): Promise<DirectorySettings> {
    return retrying(async () => {
      const before = await this.read();
      const config = body.enabled === false ? null : await this.#configOf(before.config, body);
      const changes = [setSettings({ name: domain.DIRECTORY, type: 'DIRECTORY_SET' }, before, config)];
      const run = await this.lastRun();
      return commitLast(this.store, context, { at: this.now(), changes }, () => presented(config, run));
    });
  }

  /** Connects to the directory of the settings, and signs in. Rejects with a `DirectoryFailure` if that fails, or if there is none. */
  async open<T>(
    signal: AbortSignal,
    use: (reader: DirectoryReader, config: domain.DirectoryConfig) => Promise<T>,
  ): Promise<T> {
    const { config } = await this.read();
    if (!config) throw new DirectoryFailure('is not set up');
    const { sealed } = config;
    const password = sealed === null ? null : openSecret(this.parts.sealingKey, boundOf(config), sealed);
    if (sealed !== null && password === null)
      throw new DirectoryFailure('cannot be used: its password was encrypted with another key; set it again');
    // Loaded here, because it loads the library.
    const { DirectoryReader } = await import('./ldap/reader.ts');
    return DirectoryReader.with(config, password, signal, reader => use(reader, config));
  }

  async test(signal: AbortSignal): Promise<Data<'testDirectory'>> {
    try {
      const findings = await this.open(signal, findingsOf);
      return { ok: findings.every(({ ok }) => ok), findings };
    } catch (error) {
      if (!(error instanceof DirectoryFailure)) throw error;
      return { ok: false, findings: [{ check: 'connection', ok: false, detail: `the directory ${error.message}` }] };
    }
  }

  /** 1 if the last run failed, 0 if not; null without a directory. */
  async failing(): Promise<number | null> {
    if ((await this.read()).config === null) return null;
    return (await this.lastRun())?.problem ? 1 : 0;
  }

  /** The last run that was recorded. */
  async lastRun(): Promise<domain.DirectoryRunRecord | null> {
    return domain.runIn(await this.store.document(domain.DIRECTORY_RUN));
  }

  async #configOf(before: domain.DirectoryConfig | null, body: Body<'setDirectory'>): Promise<domain.DirectoryConfig> {
    const { url, base, bindPassword, enabled: _, ...chosen } = body;
    const { filter = null, bindDn = null, ca = null } = chosen;
    if (!url || !base) throw inputError(url ? 'base' : 'url', 'is required');
    const problem = urlProblem(url);
    if (problem !== null) throw inputError('url', problem);
    if (filter !== null) await demandFilter(filter);
    if (ca !== null) demandCertificate(ca);
    if (bindPassword && bindDn === null) throw inputError('bindDn', 'is required with bindPassword');
    const isSame = before?.url === url && before.bindDn === bindDn;
    if (bindDn !== null && !bindPassword && !isSame) throw inputError('bindPassword', 'is required');
    const sealed = bindPassword
      ? sealSecret(this.parts.sealingKey, boundOf({ url, bindDn }), bindPassword)
      : bindDn === null
        ? null
        : before!.sealed;
    return { ...off, ...chosen, attributes: { ...off.attributes, ...chosen.attributes }, url, base, sealed };
  }
}

async function demandFilter(filter: string): Promise<void> {
  const { filterProblem } = await import('./ldap/reader.ts');
  const problem = filterProblem(filter);
  if (problem !== null) throw inputError('filter', problem);
}

function demandCertificate(ca: string): void {
  try {
    void new X509Certificate(ca);
  } catch {
    throw inputError('ca', 'must be certificates in PEM');
  }
}

async function findingsOf(reader: DirectoryReader, { bindDn, url }: domain.DirectoryConfig): Promise<Finding[]> {
  const { server, fields } = reader;
  const { entries, skipped } = await reader.sample();
  const read = entries.length + skipped.length;
  const kind = server.isActiveDirectory ? 'Active Directory' : 'LDAP';
  const signIn = bindDn === null ? 'anonymous' : `as ${bindDn}`;
  const [first] = skipped;
  return [
    { check: 'connection', ok: true, detail: url.startsWith('ldaps:') ? 'the certificate is valid' : 'this machine' },
    { check: 'server', ok: true, detail: kind },
    { check: 'sign-in', ok: true, detail: signIn },
    { check: 'pages', ok: server.hasPages, detail: server.hasPages ? 'returned' : 'not announced' },
    { check: 'changes', ok: true, detail: server.position ? 'by uSNChanged' : 'by modifyTimestamp' },
    { check: 'entries', ok: read > 0, detail: read > 0 ? `${read} on the first page` : `none match ${reader.filter}` },
    {
      check: 'attributes',
      ok: skipped.length === 0,
      detail: first
        ? `${skipped.length} of ${read} entries cannot be persons, for example: ${first.why}`
        : `${fields.id} and ${fields.userName} are valid in all of them`,
    },
  ];
}

function presented(config: domain.DirectoryConfig | null, run: domain.DirectoryRunRecord | null): DirectorySettings {
  // Settings of an earlier version have no name.
  const { sealed: _, ...shown } = { ...off, ...config };
  const lastRun = run && { at: iso(run.at), kind: run.kind, problem: run.problem, counts: run.counts };
  return { enabled: config !== null, ...shown, lastRun };
}
