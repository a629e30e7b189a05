import { ApiError, Code } from '../../src/contract/codes.ts';
import { credentialIds, providerIds } from '../../src/contract/ids.ts';
import type { CredentialItem } from '../../src/contract/providers.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import { changers } from '../../src/contract/values.ts';
import type { AttestationResponse } from '../../src/contract/webauthn.ts';
import { poll } from '../../src/delivery/wait.ts';
import { KeyedMutex } from '../base/concurrency.ts';
import { ProviderUnavailable } from '../base/errors.ts';
import { iso } from '../base/time.ts';
import type { IdentityJudge } from '../devices/judges.ts';
import { readDevice } from '../devices/lookups.ts';
import type { DeviceRecord } from '../devices/records.ts';
import { personOf } from '../people/lookups.ts';
import { type Context, commitFor, commitLast, retrying, Service, type ServiceParts } from '../requests/context.ts';
import { Conflict, type Guard } from '../store/commit.ts';
import * as domain from './credential.ts';
import { begunOf, checkAnswer } from './key-answer.ts';
import { isHeld, resetDocument, resetIn } from './key-reset.ts';
import { demandNoReset } from './key-reset-service.ts';
import { presented, sshIn, storedIn } from './present.ts';
import type { ProviderRecord } from './provider.ts';
import type { ProviderService } from './provider-service.ts';
import { isRefusal, newLabel } from './providers/provider-api.ts';
import type { RemoteCredentials } from './remote-credentials.ts';

/** Dependencies of the service. */
export interface CredentialServiceParts extends ServiceParts {
  readonly providers: ProviderService;
  readonly remoteCredentials: RemoteCredentials;
  readonly identities: Pick<IdentityJudge, 'demandSigned'>;
  /** Labels of credentials begin with it. */
  readonly registryId: string;
}

/** For how long a request waits for an equal one at another node, which the provider is still carrying out, and how often it looks. */
const OTHER_NODE_MS = { forMs: 10_000, everyMs: 250 } as const;

/** The first credentials of a provider: one of them has the origin. */
const FIRST = 100;

/** A refusal is thrown as an `ApiError`. */
export class CredentialService extends Service<CredentialServiceParts> {
  readonly #there: RemoteCredentials;
  readonly #answers = new KeyedMutex<string>();

  constructor(parts: CredentialServiceParts) {
    super(parts);
    this.#there = parts.remoteCredentials;
  }

  /** Callers who issue no keys do not see by what a key is asked. */
  async list({ caller }: Pick<Context, 'caller'>, deviceId: string): Promise<Data<'listCredentials'>> {
    const device = await readDevice(this.store, deviceId);
    const [credentials, document] = await Promise.all([
      this.store.credentialsOf(device.number),
      this.store.document(resetDocument(device.number)),
    ]);
    const reset = resetIn(document)?.credentials ?? [];
    const isIssuer = changers.some(role => role === caller.role);
    return credentials.map(credential => {
      const isErased = isHeld(credential) && reset.includes(credential.number);
      const [stored, ssh] = isIssuer && !isErased ? [storedIn(credential), sshIn(credential)] : [];
      return {
        ...presented(credential, device),
        ...(isErased ? { reset: true } : {}),
        ...(stored ? { stored } : {}),
        ...(ssh ? { ssh } : {}),
      };
    });
  }

  async start(
    context: Context,
    deviceId: string,
    { providerId, identity }: Body<'startCredential'>,
  ): Promise<Data<'startCredential'>> {
    const { providers, identities } = this.parts;
    const device = await readDevice(this.store, deviceId);
    const demandSigned = () => identities.demandSigned(context, device, 'issue', identity);
    await demandSigned();
    const unreset = await demandNoReset(this.store, device.number);
    const person = await this.#personOf(device);
    const provider = await providers.find(providerId);
    await providers.demand(context, provider);
    const open = await this.#open(device, provider);
    if (open) await this.#demandUnfinished(context, provider, open);
    await this.#removeGivenUp(context, device, provider);
    const account = await providers.ask(provider, api => api.account(person.userName));
    const answer = await providers.ask(provider, api => api.options(account));
    const { origin, options, expiresAt } = answer;
    const begun = begunOf(answer);
    await this.#demandSameOrigin(provider, begun);
    const label = newLabel(this.parts.registryId);
    return retrying(async () => {
      const present = await this.#open(device, provider);
      const taken = new ApiError(Code.parameterError, 'another program is issuing this key: try again');
      if (present?.credentialId) throw taken;
      const fields = { device: device.number, provider: provider.number, account, label, begun };
      const change = present
        ? domain.beginAgain(present, fields, person.number)
        : domain.beginCredential(fields, person.number);
      const changes = [change, ...(await demandSigned())];
      const [result] = await commitFor(this.store, context, { at: this.now(), changes, guards: [unreset] });
      if (result?.kind === 'duplicate') throw taken;
      const number = present?.number ?? (result?.kind === 'added' ? result.number : 0);
      return { credentialId: credentialIds.format(number), origin, options, expiresAt: iso(expiresAt) };
    });
  }

  /**
   * One request at a time for each credential: the provider refuses the second use of a challenge, also while it carries out the first one
   * and does not list the credential yet.
   */
  finish(
    context: Context,
    deviceId: string,
    credentialId: string,
    body: Body<'finishCredential'>,
  ): Promise<CredentialItem> {
    return this.#answers.run(credentialId, () => this.#finish(context, deviceId, credentialId, body));
  }

  async #finish(
    context: Context,
    deviceId: string,
    credentialId: string,
    { response, reported }: Body<'finishCredential'>,
  ): Promise<CredentialItem> {
    const { device, credential, provider } = await this.#find(context, deviceId, credentialId);
    if (credential.removedAt !== null) throw new ApiError(404, 'the credential is removed');
    if (credential.issuedAt !== null) {
      if (credential.credentialId === response.id) return presented(credential, device);
      throw new ApiError(Code.parameterError, 'the credential was already completed with another response');
    }
    const unreset = await demandNoReset(this.store, device.number);
    checkAnswer(response, credential.begun);
    await this.#personOf(device);
    let known = credential;
    // A repeated response of the key: the provider may have accepted the first one.
    const isRepeated = credential.credentialId === response.id;
    if (!isRepeated) {
      const begun = credential.begun && { ...credential.begun, ...(reported ? { isReported: true } : {}) };
      const made = { credentialId: response.id, begun };
      await this.#commit(context, domain.noteStep(credential, made), [unreset]);
      known = { ...credential, ...made, version: credential.version + 1 };
    }
    const remoteId = await this.#accepted(context, provider, known, response, isRepeated);
    const at = this.now();
    const done = domain.issued(known, remoteId, at);
    return commitLast(this.store, context, { at, changes: [done] }, () =>
      presented({ ...known, remoteId, issuedAt: at }, device),
    );
  }

  async remove(context: Context, deviceId: string, credentialId: string): Promise<CredentialItem> {
    const { device, credential, provider } = await this.#find(context, deviceId, credentialId);
    if (credential.removedAt !== null) return presented(credential, device);
    const change = await this.#there.remove(provider, credential);
    if (change === null) return presented(credential, device);
    const after = { ...credential, ...change.set } as domain.CredentialRecord;
    return commitLast(this.store, context, { at: after.removedAt ?? this.now(), changes: [change] }, () =>
      presented(after, device),
    );
  }

  /** Registers the credential at the provider, unless it did so before. Resolves with the id there. */
  async #accepted(
    context: Context,
    provider: ProviderRecord,
    credential: domain.CredentialRecord,
    response: AttestationResponse,
    isRepeated: boolean,
  ): Promise<string> {
    const lookedUp = () => this.#there.lookUp(provider, credential);
    const before = isRepeated ? await lookedUp() : null;
    if (before !== null) return before;
    const { account, label, begun, device } = credential;
    const request = { account, label, response, handle: begun?.handle ?? null, device, by: context };
    try {
      return await this.parts.providers.ask(provider, api => api.finish(request));
    } catch (error) {
      const isLost = error instanceof ProviderUnavailable;
      const found = isLost ? await lookedUp().catch(() => null) : null;
      const listed = isRepeated && isRefusal(error) ? await this.#acceptedElsewhere(provider, credential) : found;
      if (listed !== null) return listed;
      if (isRefusal(error)) await this.#noteRefused(context, credential, isRepeated);
      throw error;
    }
  }

  /**
   * The id at a provider that has refused a repetition; null if it does not list the credential. Another node may have sent the
   * first request, which is still being carried out. Rejects with a `Conflict` once that node has stored the end.
   */
  #acceptedElsewhere(provider: ProviderRecord, credential: domain.CredentialRecord): Promise<string | null> {
    const look = async () => {
      const found = await this.#there.lookUp(provider, credential);
      if (found === null && (await this.store.credential(credential.number))?.version !== credential.version)
        throw new Conflict(`credential ${credential.number} was changed at the same time`);
      return found;
    };
    return poll(look, this.store.sharedWork ? OTHER_NODE_MS : { ...OTHER_NODE_MS, forMs: 0 });
  }

  /** The provider has nothing, unless it refuses the repetition of a request that it has carried out and does not list yet. */
  #noteRefused(context: Context, credential: domain.CredentialRecord, isRepeated: boolean) {
    const nothing = { credentialId: null, begun: null };
    const change = isRepeated ? domain.givenUp(credential, this.now()) : domain.noteStep(credential, nothing);
    return this.#commit(context, change);
  }

  /** A credential that was begun is begun again, unless the provider has accepted it. */
  async #demandUnfinished(context: Context, provider: ProviderRecord, open: domain.CredentialRecord): Promise<void> {
    const exists = new ApiError(
      Code.parameterError,
      `this key is already issued at ${provider.name}: remove that credential first`,
    );
    if (open.issuedAt !== null) throw exists;
    if (open.credentialId === null) return;
    const remoteId = await this.#there.lookUp(provider, open);
    const at = this.now();
    // A request that is not listed may still be under way, or may have been accepted just now.
    await this.#commit(context, remoteId === null ? domain.givenUp(open, at) : domain.issued(open, remoteId, at));
    if (remoteId !== null) throw exists;
  }

  /** A WebAuthn server names its origin itself: one that was taken over could have keys register at another site. */
  async #demandSameOrigin({ number, type }: ProviderRecord, { origin }: domain.BegunCredential): Promise<void> {
    if (type !== 'webauthn') return;
    const earlier = await this.store.credentialsAt(number, 0, FIRST);
    const before = earlier.find(one => one.begun !== null)?.begun?.origin ?? origin;
    if (before !== origin)
      throw new ApiError(
        Code.parameterError,
        `the server names the origin ${origin}, and before ${before}: if its site has another address now, add it as another provider`,
      );
  }

  /** Options exclude what the provider has accepted late: a key that has it would refuse to make another one. */
  async #removeGivenUp(context: Context, { number }: DeviceRecord, provider: ProviderRecord): Promise<void> {
    for (const one of await this.store.credentialsOf(number)) {
      if (one.provider !== provider.number || one.removedAt !== null || one.uncertainAt === null) continue;
      const change = await this.#there.remove(provider, one);
      if (change) await this.#commit(context, change);
    }
  }

  #commit(context: Context, change: domain.CredentialChange, guards: readonly Guard[] = []) {
    return commitFor(this.store, context, { at: this.now(), changes: [change], guards });
  }

  async #personOf(device: DeviceRecord): Promise<{ readonly userName: string; readonly number: number | null }> {
    if (device.status === 'LOCKED') throw new ApiError(Code.deviceLocked);
    if (device.status === 'DEACTIVATED') throw new ApiError(Code.deviceDeactivated);
    if (device.userId === null)
      throw new ApiError(Code.parameterError, 'the device is not bound to a person: activate it');
    const person = await personOf(this.store, device);
    if (person?.active === false)
      throw new ApiError(Code.parameterError, 'the person of the device has left: the key cannot be issued');
    return person ?? { userName: device.userId, number: null };
  }

  async #open({ number }: DeviceRecord, provider: ProviderRecord): Promise<domain.CredentialRecord | null> {
    const all = await this.store.credentialsOf(number);
    return (
      all.find(one => one.provider === provider.number && one.removedAt === null && one.uncertainAt === null) ?? null
    );
  }

  async #find(context: Context, deviceId: string, credentialId: string) {
    const device = await readDevice(this.store, deviceId);
    const number = credentialIds.parse(credentialId);
    const credential = number === null ? null : await this.store.credential(number);
    if (credential?.device !== device.number) throw new ApiError(404, 'the device has no such credential');
    const provider = await this.parts.providers.find(providerIds.format(credential.provider));
    await this.parts.providers.demand(context, provider);
    return { device, credential, provider };
  }
}
