/**
 * Resets of keys. What a key had at providers is removed there after it was erased, never before: a key that refuses keeps everything.
 * The beginning is stored before the key is asked, so that a program that is killed in between leaves a question that the key can answer.
 */
import { ApiError, Code } from '../../src/contract/codes.ts';
import { deviceIds, providerIds } from '../../src/contract/ids.ts';
import type { KeyReset } from '../../src/contract/key-resets.ts';
import type { Body } from '../../src/contract/routes.ts';
import { iso } from '../base/time.ts';
import type { IdentityJudge } from '../devices/judges.ts';
import { readDevice } from '../devices/lookups.ts';
import type { DeviceRecord } from '../devices/records.ts';
import { lost } from '../identity/records.ts';
import { type Context, commitLast, retrying, Service, type ServiceParts } from '../requests/context.ts';
import type { Change } from '../store/commit.ts';
import type { Store } from '../store/store.ts';
import { type CredentialRecord, isToRemove } from './credential.ts';
import * as domain from './key-reset.ts';
import { forgottenPin } from './pin-service.ts';
import type { ProviderService } from './provider-service.ts';

interface KeyResetParts extends ServiceParts {
  readonly providers: Pick<ProviderService, 'find' | 'demand'>;
  readonly identities: Pick<IdentityJudge, 'demandSigned'>;
}

/** State of a device while its reset is recorded. */
interface DeviceReset {
  readonly device: DeviceRecord;
  readonly credentials: readonly CredentialRecord[];
  readonly open: domain.OpenReset | null;
  /** Of the document. */
  readonly version: number;
}

/** A refusal is thrown as an `ApiError`. */
export class KeyResetService extends Service<KeyResetParts> {
  async show(deviceId: string): Promise<KeyReset> {
    return presented(await this.#read(deviceId));
  }

  record(context: Context, deviceId: string, body: Body<'recordKeyReset'>): Promise<KeyReset> {
    return retrying(async () => {
      const found = await this.#read(deviceId);
      if (found.device.status === 'DEACTIVATED') throw new ApiError(Code.deviceDeactivated);
      const { stage } = body;
      if (stage === 'canceled') return this.#cancel(context, found);
      // A reset that is open was allowed when it was begun. The key that was erased cannot sign.
      const signed = found.open
        ? []
        : await this.parts.identities.demandSigned(context, found.device, 'reset', body.identity);
      return stage === 'begun' ? this.#begin(context, found, body.hadPin === true, signed) : this.#done(context, found);
    });
  }

  /** A caller who may not remove the credentials, or replace the stored PIN, is refused before the key is erased. */
  async #begin(context: Context, found: DeviceReset, hadPin: boolean, signed: readonly Change[]): Promise<KeyReset> {
    const { device, credentials, open, version } = found;
    if (open) throw new ApiError(Code.parameterError, OPEN);
    const held = credentials.filter(domain.isHeld);
    for (const provider of new Set(held.map(one => one.provider)))
      await this.parts.providers.demand(context, await this.parts.providers.find(providerIds.format(provider)));
    const at = this.now();
    await forgottenPin(this.store, context, device.number, at);
    if (held.length === 0) return presented(found);
    const begun = { begunAt: at, hadPin, credentials: held.map(({ number }) => number) };
    const changes = [domain.setReset(device.number, version, begun, 'KEY_RESET_BEGUN'), ...signed];
    return commitLast(this.store, context, { at, changes }, () => presented({ ...found, open: begun }));
  }

  /** All in one commit: `CredentialRemovals` continues with it, whatever ends this daemon or its caller. */
  async #done(context: Context, found: DeviceReset): Promise<KeyReset> {
    const { device, credentials, open, version } = found;
    if (open) await this.#demandEnding(context, credentials, open);
    const at = this.now();
    const pin = await forgottenPin(this.store, open ? null : context, device.number, at);
    const ended = open ? domain.erased(credentials, open, at) : [];
    const identities = await this.store.identitiesOf(device.number);
    const changes = [
      ...ended,
      ...(pin ? [pin] : []),
      ...(open ? [domain.setReset(device.number, version, null, 'KEY_RESET')] : []),
      ...identities.flatMap(one => (one.lostAt === null ? lost(one, device.deviceType, 'reset', at) : [])),
    ];
    if (changes.length === 0) return presented(found);
    const pending = ended.filter(one => one.kind === 'credential.set' && one.set.uncertainAt !== undefined).length;
    const after = presented({ ...found, open: null });
    return commitLast(this.store, context, { at, changes }, () => ({ ...after, pending: after.pending + pending }));
  }

  /** Only those who could begin it: else a DEALER without the key could take an ADMIN's key. No step-up: the key is erased. */
  async #demandEnding({ caller }: Context, credentials: readonly CredentialRecord[], open: domain.OpenReset) {
    if (caller.user !== null && caller.role === 'ADMIN') return;
    for (const { number, provider } of credentials)
      if (open.credentials.includes(number) && (await this.#isOwn(provider)))
        throw new ApiError(Code.noPermission, NOT_YOURS);
  }

  async #isOwn(provider: number): Promise<boolean> {
    return (await this.parts.providers.find(providerIds.format(provider))).type === 'devmgr';
  }

  async #cancel(context: Context, found: DeviceReset): Promise<KeyReset> {
    const { device, open, version } = found;
    const after = presented({ ...found, open: null });
    if (!open) return after;
    const changes = [domain.setReset(device.number, version, null, 'KEY_RESET_CANCELED')];
    return commitLast(this.store, context, { at: this.now(), changes }, () => after);
  }

  async #read(deviceId: string): Promise<DeviceReset> {
    const device = await readDevice(this.store, deviceId);
    const [document, credentials] = await Promise.all([
      this.store.document(domain.resetDocument(device.number)),
      this.store.credentialsOf(device.number),
    ]);
    return { device, credentials, open: domain.resetIn(document), version: document?.version ?? 0 };
  }
}

const NOT_YOURS =
  'the key had a credential that signs in to devmgr: a user with the role ADMIN issues it again, which records its reset';
const OPEN =
  'a reset of this key was begun before, and its outcome is not recorded: issue the key again, so that it is asked whether it was erased';

/**
 * Refuses while a reset is open: a credential that the key makes in between could be one that it no longer has. Resolves to what the
 * commit that follows depends on.
 */
export async function demandNoReset(store: Pick<Store, 'document'>, device: number) {
  const name = domain.resetDocument(device);
  const document = await store.document(name);
  if (domain.resetIn(document)) throw new ApiError(Code.parameterError, OPEN);
  return { kind: 'document', name, version: document?.version ?? 0 } as const;
}

function presented({ device, credentials, open }: DeviceReset): KeyReset {
  return {
    deviceId: deviceIds.format(device.number),
    begunAt: open && iso(open.begunAt),
    hadPin: open?.hadPin ?? null,
    credentials: credentials
      .filter(one => open?.credentials.includes(one.number))
      .flatMap(({ begun, credentialId: id }) => (begun && id !== null ? { site: begun.rpId, id } : [])),
    pending: credentials.filter(one => isToRemove(one, device)).length,
  };
}
