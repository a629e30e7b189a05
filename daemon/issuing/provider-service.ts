/** The providers at which keys are issued: added, tested, removed. Their secrets leave the registry in requests to them only. */
import { ApiError, Code } from '../../src/contract/codes.ts';
import { providerIds } from '../../src/contract/ids.ts';
import { providerBounds } from '../../src/contract/limits.ts';
import {
  forEachProviderSetting,
  type ProviderSetting,
  providerAddresses,
  providerSettings,
  publicCloud,
  shownProviderSettings,
} from '../../src/contract/provider-fields.ts';
import type { ProviderItem } from '../../src/contract/providers.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import type { ProviderType } from '../../src/contract/values.ts';
import { proxyNamed } from '../../src/delivery/proxies.ts';
import { inputRefusal, type Refusal } from '../base/decision.ts';
import { ProviderAway, ProviderUnavailable } from '../base/errors.ts';
import { enteredProblem, issuerProblem } from '../base/fetch.ts';
import { openSecret, sealSecret } from '../base/sealed.ts';
import { iso } from '../base/time.ts';
import {
  accept,
  type Context,
  commitLast,
  refused,
  retrying,
  Service,
  type ServiceParts,
} from '../requests/context.ts';
import { RetryLater } from '../requests/limiter.ts';
import { consoleAddressProblem, type OwnAccounts } from './own-accounts.ts';
import * as domain from './provider.ts';
import { entra } from './providers/entra.ts';
import { okta } from './providers/okta.ts';
import { type IssuingProvider, isRefusal, ProviderRefused, type RemoteUser } from './providers/provider-api.ts';
import type { ProviderAccess } from './providers/requests.ts';
import { sshKeys } from './providers/ssh.ts';
import { webauthnServer } from './providers/webauthn-server.ts';
import { allOpenCredentials } from './reads.ts';

interface ProviderServiceParts extends ServiceParts {
  /** The key that seals secrets: that of all nodes. */
  readonly sealingKey: Uint8Array;
  /** Names and networks that the operator of the daemon allows besides public addresses. */
  readonly allowed: readonly string[];
  readonly own: OwnAccounts;
}

/** A refusal is thrown as an `ApiError`. */
export class ProviderService extends Service<ProviderServiceParts> {
  readonly #opened = new Map<string, IssuingProvider>();
  /** Why the last request of this daemon to a provider failed, by the provider's number. */
  readonly #problems = new Map<number, string>();

  async list(): Promise<Data<'listProviders'>> {
    const { list } = await this.read();
    const counts = await this.#counts();
    return { list: list.map(record => this.#present(record, counts.get(record.number))) };
  }

  /** Credentials that providers still accept although they must not; null without a provider. */
  async pending(): Promise<number | null> {
    const { list } = await this.read();
    if (list.length === 0) return null;
    return [...(await this.#counts()).values()].reduce((sum, { pending }) => sum + pending, 0);
  }

  async read(): Promise<domain.Providers> {
    return domain.providersIn(await this.store.document(domain.PROVIDERS));
  }

  async create(context: Context, body: Body<'createProvider'>): Promise<ProviderItem> {
    const { sealingKey, allowed } = this.parts;
    const { name, type, secret = null, ...given } = body;
    const settings = forEachProviderSetting(providerSettings, (_, each) => given[each] ?? null);
    const problem =
      domain.providerProblem({ type, ...settings }, secret) ?? (await addressProblem(type, settings, allowed));
    if (problem !== null) throw refused(problem);
    return retrying(async () => {
      const providers = await this.read();
      const fields = { number: providers.last + 1, type, ...settings };
      const sealed = sealSecret(sealingKey, domain.providerBinding(fields), secret ?? '');
      const record = { ...fields, name, sealed, createdAt: this.now() };
      const change = accept(domain.addProvider(providers, record));
      return commitLast(this.store, context, { at: record.createdAt, changes: [change] }, () => this.#present(record));
    });
  }

  async test(providerId: string): Promise<Data<'testProvider'>> {
    const record = await this.find(providerId);
    // A finding of an earlier request is not the result of this one.
    this.#problems.delete(record.number);
    await this.ask(record, api => api.test()).catch(error => {
      if (!this.#problems.has(record.number)) throw error;
    });
    const problem = this.#problems.get(record.number) ?? null;
    const address = testedAddress(record);
    return { reachable: problem === null, problem, proxy: address === null ? null : proxyNamed(address) };
  }

  setSecret(context: Context, providerId: string, secret: string): Promise<ProviderItem> {
    return this.#replace(context, providerId, async record => {
      const problem = domain.providerProblem(record, secret);
      if (problem !== null) throw refused(problem);
      const after = { ...record, sealed: sealSecret(this.parts.sealingKey, domain.providerBinding(record), secret) };
      const counts = await this.#counts();
      return { after, data: this.#present(after, counts.get(record.number)) };
    });
  }

  remove(context: Context, providerId: string): Promise<Data<'removeProvider'>> {
    return this.#replace(context, providerId, async ({ number }) => {
      if ((await this.#counts()).has(number))
        throw new ApiError(
          Code.parameterError,
          'keys still have credentials at this provider, which could no longer be removed: remove them first, on the pages of the devices',
        );
      return { after: null, data: { providerId, removed: true } };
    });
  }

  #replace<T>(
    context: Context,
    providerId: string,
    decide: (record: domain.ProviderRecord) => Promise<{ after: domain.ProviderRecord | null; data: T }>,
  ): Promise<T> {
    return retrying(async () => {
      const providers = await this.read();
      const record = recordIn(providers, providerId);
      const { after, data } = await decide(record);
      const changes = [domain.replaceProvider(providers, record, after)];
      return commitLast(this.store, context, { at: this.now(), changes }, () => data);
    });
  }

  /** Refuses with 404 if there is none. */
  async find(providerId: string): Promise<domain.ProviderRecord> {
    return recordIn(await this.read(), providerId);
  }

  /** Refuses callers who cannot issue or remove credentials there. */
  async demand({ caller }: Context, { type }: domain.ProviderRecord): Promise<void> {
    if (type === 'devmgr') await this.parts.own.demand(caller);
  }

  /**
   * Sends a request to a provider, and records whether it succeeded. Rejects with a refusal (`isRefusal`), with `RetryLater` if the
   * provider asks to wait, and with `ProviderUnavailable` if it does not respond.
   */
  async ask<T>(record: domain.ProviderRecord, request: (api: IssuingProvider) => Promise<T>): Promise<T> {
    try {
      const answer = await request(this.#open(record));
      this.#problems.delete(record.number);
      return answer;
    } catch (error) {
      if (error instanceof ProviderAway || isRefusal(error)) this.#problems.set(record.number, error.message);
      throw error instanceof ProviderAway ? notNow(error) : error;
    }
  }

  /** Providers whose users can be read. */
  async readable(): Promise<readonly { readonly name: string; read(): Promise<readonly RemoteUser[]> }[]> {
    const { list } = await this.read();
    const isReadable = ({ type }: domain.ProviderRecord) => type === 'entra' || type === 'okta';
    return list.filter(isReadable).map(record => ({
      name: record.name,
      read: () => this.ask(record, api => api.users!()),
    }));
  }

  /** Tokens of a provider live as long as its settings. */
  #open(record: domain.ProviderRecord): IssuingProvider {
    const id = `${record.number} ${record.sealed}`;
    const known = this.#opened.get(id);
    if (known) return known;
    const { sealingKey, allowed, own, now } = this.parts;
    const secret = openSecret(sealingKey, domain.providerBinding(record), record.sealed);
    if (secret === null) throw new ProviderRefused('the secret was encrypted with another key: add the provider again');
    const made = apiOf(record, { secret, allowed, now }, own);
    this.#opened.set(id, made);
    return made;
  }

  async #counts(): Promise<ReadonlyMap<number, CredentialCounts>> {
    const counts = new Map<number, CredentialCounts>();
    for await (const portion of allOpenCredentials(this.store))
      for (const { provider, due } of portion) {
        const { present = 0, pending = 0 } = counts.get(provider) ?? {};
        counts.set(provider, { present: present + 1, pending: pending + due });
      }
    return counts;
  }

  #present(record: domain.ProviderRecord, { present = 0, pending = 0 }: Partial<CredentialCounts> = {}): ProviderItem {
    const { number, name, type, createdAt } = record;
    return {
      providerId: providerIds.format(number),
      name,
      type,
      ...forEachProviderSetting(shownProviderSettings, (_, each) => record[each] ?? null),
      credentials: present,
      pending,
      problem: this.#problems.get(number) ?? null,
      createdAt: iso(createdAt),
    };
  }
}

/** Credentials of a provider: those that are not removed, and those of them that have to be. */
interface CredentialCounts {
  readonly present: number;
  readonly pending: number;
}

type Settings = Record<ProviderSetting, string | null>;

function apiOf(record: domain.ProviderRecord, access: ProviderAccess, own: OwnAccounts): IssuingProvider {
  const { type, address } = record;
  switch (type) {
    case 'entra':
      return entra(record, access);
    case 'okta':
      return okta(address!, access);
    case 'webauthn':
      return webauthnServer(record, access);
    case 'devmgr':
      return own.at(address!);
    case 'ssh':
      return sshKeys(record, access.now);
  }
}

/** The address that a test asks; null if it sends nothing. */
function testedAddress({ type, address }: domain.ProviderRecord): string | null {
  if (type === 'ssh' || type === 'devmgr') return null;
  return type === 'entra' ? (address ?? publicCloud.graph) : address;
}

function recordIn({ list }: domain.Providers, providerId: string): domain.ProviderRecord {
  const number = providerIds.parse(providerId);
  const record = list.find(one => one.number === number);
  if (!record) throw new ApiError(404, 'provider does not exist');
  return record;
}

/** The addresses of a WebAuthn server may be internal if they are at the host of the first one, others each at its own. */
async function addressProblem(
  type: ProviderType,
  settings: Settings,
  allowed: readonly string[],
): Promise<Refusal | null> {
  for (const field of providerAddresses) {
    const address = settings[field];
    if (address === null) continue;
    const named = type === 'webauthn' ? settings.address! : address;
    const problem =
      type === 'devmgr'
        ? (issuerProblem(address) ?? consoleAddressProblem(address))
        : await enteredProblem(address, named, allowed);
    if (problem !== null) return inputRefusal(field, problem);
  }
  return null;
}

/** Answer about a provider that may carry out a later request. */
function notNow({ message, waitSeconds, cause }: ProviderAway): Error {
  if (waitSeconds === null)
    return new ProviderUnavailable(`the provider does not respond: ${message}. Repeat the request`, { cause });
  const seconds = Math.min(Math.max(1, Math.ceil(waitSeconds)), providerBounds.waitSeconds);
  return new RetryLater(`the provider asks to wait: ${message}`, seconds);
}
