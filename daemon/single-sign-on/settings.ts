/** The settings of single sign-on, and the provider that they name. */
import { ApiError, Code, inputError } from '../../src/contract/codes.ts';
import { ssoBounds } from '../../src/contract/limits.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import type { SsoSettings } from '../../src/contract/sso.ts';
import { isOfProvider } from '../accounts/user.ts';
import { ProviderAway } from '../base/errors.ts';
import { issuerProblem } from '../base/fetch.ts';
import { clientOf } from '../base/loopback.ts';
import { type Binding, openSecret, sealSecret } from '../base/sealed.ts';
import type { UserRecord } from '../requests/callers.ts';
import { type Context, commitLast, retrying, Service, type ServiceParts } from '../requests/context.ts';
import type { LocalJudge } from '../sign-in/judges.ts';
import { SESSIONS, versionOfSession } from '../store/caller.ts';
import { setSettings, settingsIn } from '../store/document.ts';
import { inspect } from './inspection.ts';
import type { Provider } from './provider.ts';
import * as domain from './records.ts';

/** Dependencies of the service. */
interface SsoSettingsParts extends ServiceParts {
  /** The key that seals secrets: that of all nodes. */
  readonly sealingKey: Uint8Array;
  /** Names and networks that the operator of the daemon allows besides public addresses. */
  readonly allowed: readonly string[];
}

/** The provider in use, and the settings that it was made from. */
export interface ActiveSso {
  /** The version of `SESSIONS` before the settings were read: with a later one, they may have changed. */
  readonly sessions: number;
  readonly config: domain.SsoConfig;
  readonly provider: Provider;
}

/** Settings shown without a provider, which are the defaults of a request. */
const off = {
  issuer: null,
  name: null,
  clientId: null,
  sealed: null,
  roles: { ADMIN: [], DEALER: [], VIEWER: [] },
  groupsClaim: 'groups',
  scopes: null,
  strong: { acr: [], amr: [] },
  localAccounts: { from: 'ANYWHERE', names: null } as const,
};

/** The data that the encryption of the secret authenticates. */
const boundOf = (config: Pick<domain.SsoConfig, 'issuer' | 'clientId'>): Binding => ({
  subject: 0,
  place: domain.providerOf(config),
});

/** Whether the address is of the machine of the daemon. */
export const isHere = (address: string): boolean => clientOf(address) === 'loopback';

/** A refusal is thrown as an `ApiError`. */
export class SsoSettingsService extends Service<SsoSettingsParts> implements LocalJudge {
  #active: { readonly version: number; readonly made: Promise<Provider> } | null = null;

  async show(): Promise<Data<'showSso'>> {
    const { config } = await this.read();
    return { enabled: config !== null, issuer: config?.issuer ?? null, name: config?.name ?? null };
  }

  async settings(): Promise<SsoSettings> {
    return presented((await this.read()).config);
  }

  async read(): Promise<domain.SsoRecord> {
    return settingsIn(await this.store.document(domain.SSO), null);
  }

  async set(context: Context, body: Body<'setSso'>): Promise<SsoSettings> {
    const shown = await retrying(async () => {
      const before = await this.read();
      const config = body.enabled === false ? null : this.#configOf(before.config, body);
      if (config) await this.#demandWayIn(config);
      const sessions = await this.store.documentVersion(SESSIONS);
      const set = setSettings({ name: domain.SSO, type: 'SSO_SET' }, before, config);
      const changes = [set, ...domain.endingSessions(before.config, config, sessions)];
      return commitLast(this.store, context, { at: this.now(), changes }, () => presented(config));
    });
    // Not awaited: there may be thousands. What remains after a stop goes with the next change, or the next sign-in of the person.
    void this.#removeEnded().catch(() => {});
    return shown;
  }

  /** Removes the sealed tokens of sessions that have ended: they open nothing here, but may do so at the provider. */
  async #removeEnded(): Promise<void> {
    const version = await this.store.documentVersion(SESSIONS);
    for (const row of await this.store.allSsoSessions()) {
      const open = row.sessions.filter(({ id }) => versionOfSession(id) === version);
      if (open.length === row.sessions.length) continue;
      const changes = [domain.setSessions(row, open, this.now())];
      // A `Conflict`: the person has signed in, which has removed them.
      await this.store.commit({ at: this.now(), actor: null, requestId: null, changes }).catch(() => {});
    }
  }

  /** The provider in use. Refuses with 404 if single sign-on is off. */
  async active(): Promise<ActiveSso> {
    const sessions = await this.store.documentVersion(SESSIONS);
    const { version, config } = await this.read();
    if (!config) throw new ApiError(404, 'single sign-on is not set up here');
    // The provider caches keys, so it lives as long as these settings.
    if (this.#active?.version !== version) this.#active = { version, made: this.#make(config) };
    return { config, provider: await this.#active.made, sessions };
  }

  async demandLocal(user: UserRecord, address: string): Promise<void> {
    if (isOfProvider(user))
      throw new ApiError(Code.noPermission, 'this account signs in at the provider of single sign-on');
    const { config } = await this.read();
    if (config) this.demandPlace(config, user, address);
  }

  /** Refuses with 2007 a sign-in without the provider that is limited to other accounts, or to the machine of the daemon. */
  demandPlace(config: domain.SsoConfig, user: UserRecord, address: string): void {
    const reason = domain.localRefusal(config, user.username, isHere(address));
    if (reason !== null) throw new ApiError(Code.noPermission, reason);
  }

  /** `origin`: of the registry. */
  async test(origin: string): Promise<Data<'testSso'>> {
    const { config } = await this.read();
    return inspect(config && (await this.active()).provider, origin);
  }

  #configOf(before: domain.SsoConfig | null, body: Body<'setSso'>): domain.SsoConfig {
    const { issuer, clientId, clientSecret, enabled: _, ...chosen } = body;
    if (!issuer || !clientId) throw inputError(issuer ? 'clientId' : 'issuer', 'is required');
    const problem = issuerProblem(issuer);
    if (problem !== null) throw inputError('issuer', problem);
    const isSame = before?.issuer === issuer && before.clientId === clientId;
    if (!clientSecret && !isSame) throw inputError('clientSecret', 'is required');
    const bound = boundOf({ issuer, clientId });
    const sealed = clientSecret ? sealSecret(this.parts.sealingKey, bound, clientSecret) : before!.sealed;
    const name = chosen.name ?? new URL(issuer).hostname.slice(0, ssoBounds.name);
    return { ...off, ...chosen, issuer, clientId, name, sealed };
  }

  /** A local account must remain for times when the provider cannot be reached. */
  async #demandWayIn({ localAccounts: { names } }: domain.SsoConfig): Promise<void> {
    const admins = await this.store.admins();
    if (admins.some(admin => !isOfProvider(admin) && (names?.includes(admin.username) ?? true))) return;
    throw inputError(
      'localAccounts',
      ': include an enabled local ADMIN, who can sign in if the provider cannot be reached',
    );
  }

  async #make(config: domain.SsoConfig): Promise<Provider> {
    const { sealingKey, allowed, now } = this.parts;
    const secret = openSecret(sealingKey, boundOf(config), config.sealed);
    if (secret === null) throw new ProviderAway('the client secret was encrypted with another key; set it again');
    // Loaded here, because it loads the library.
    const { Provider } = await import('./provider.ts');
    return new Provider({ ...config, secret }, { allowed, now });
  }
}

function presented(config: domain.SsoConfig | null): SsoSettings {
  const { sealed: _, ...shown } = config ?? off;
  return { enabled: config !== null, ...shown, holders: config?.holders ?? false };
}
