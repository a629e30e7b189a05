import { createHash } from 'node:crypto';
import type { ActionSignature } from '../../src/contract/assertion.ts';
import { ApiError, Code, inputError } from '../../src/contract/codes.ts';
import type { Registration } from '../../src/contract/device-shapes.ts';
import type { made } from '../../src/contract/identity-shapes.ts';
import { deviceIds } from '../../src/contract/ids.ts';
import type { IdentityAction, IdentityPolicy } from '../../src/contract/key-values.ts';
import { identityBounds } from '../../src/contract/limits.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import { activationAlphabet } from '../../src/contract/values.ts';
import { iso, isoOrNull } from '../base/time.ts';
import { identityDataHash } from '../devices/client-data.ts';
import type { IdentityJudge, RecognizingCredential, ShownIdentity } from '../devices/judges.ts';
import { readDevice } from '../devices/lookups.ts';
import type { DeviceRecord } from '../devices/records.ts';
import type { Challenge, Challenges } from '../proofs/challenges.ts';
import { ZERO_AAGUID } from '../proofs/judge/authenticator-data.ts';
import { credentialWith } from '../proofs/judge/credential.ts';
import { pointIn } from '../proofs/judge/made.ts';
import { type Context, commitLast, retrying, Service, type ServiceParts } from '../requests/context.ts';
import { checkedSignature, madeCredential } from './made.ts';
import * as domain from './records.ts';
import {
  demandNext,
  demandReplacement,
  holderFor,
  isCounted,
  nameOf,
  otherKey,
  type Purpose,
  RESET_MS,
  unsigned,
  VALID_MS,
} from './signatures.ts';

/** Dependencies of the service. */
interface IdentityServiceParts extends ServiceParts {
  readonly challenges: Challenges;
  /** Of all credentials that keys make for this registry. */
  readonly relyingParty: string;
  readonly policy: () => Promise<IdentityPolicy>;
}

type BindBody = Body<'bindIdentity'>;
type ProveBody = Body<'proveIdentity'>;
type Identified = Data<'proveIdentity'>;
type MadeBody = Pick<BindBody, keyof typeof made>;

/** The place of a key is stored again after this time, or if it is another one. */
const PLACE_MS = 3_600_000;

/** A refusal is thrown as an `ApiError`. */
export class IdentityService extends Service<IdentityServiceParts> implements IdentityJudge {
  async challenge(
    { caller }: Context,
    { for: wanted }: Body<'createIdentityChallenge'>,
  ): Promise<Data<'createIdentityChallenge'>> {
    const { challenges, relyingParty, policy } = this.parts;
    const purpose = wanted && { action: wanted.action, device: await readDevice(this.store, wanted.deviceId) };
    const made = challenges.create(holderFor(caller, purpose), this.now());
    return {
      identityId: made.proofId,
      challenge: made.challenge.toString('base64url'),
      relyingParty,
      number: numberOf(made),
      isInUse: (await this.store.anyIdentity()).length > 0,
      policy: await policy(),
      expiresAt: iso(made.expiresAt),
    };
  }

  async candidates(body: Body<'listIdentityCandidates'>): Promise<Data<'listIdentityCandidates'>> {
    if (body.serialNumber !== undefined)
      return { relyingParty: this.parts.relyingParty, list: await this.#ofNumber(body.serialNumber), next: null };
    const { portion = 1, protocol } = body;
    const found = await this.store.identityCandidates({
      relyingParty: this.parts.relyingParty,
      aaguid: protocol === 'U2F' ? ZERO_AAGUID : (body.aaguid ?? ZERO_AAGUID),
      firmware: body.firmware ?? '',
      station: body.station ?? '',
      portion,
    });
    const list = found.map(({ device, ...one }) => ({ ...one, deviceId: deviceIds.format(device) }));
    const { portions } = identityBounds;
    const isLast = portion === portions.length || list.length < portions[portion - 1]!;
    return { relyingParty: this.parts.relyingParty, list, next: isLast ? null : portion + 1 };
  }

  async #ofNumber(serialNumber: string) {
    const device = (await this.store.devicesBySerial([serialNumber])).get(serialNumber);
    if (!device) return [];
    const open = (await this.store.identitiesOf(device.number)).find(isOpen);
    if (open?.relyingParty !== this.parts.relyingParty) return [];
    return [{ credentialId: open.credentialId, deviceId: deviceIds.format(device.number), serialNumber }];
  }

  async shown(device: number): Promise<ShownIdentity> {
    const all = await this.store.identitiesOf(device);
    return { identity: domain.identityOf(all), identityProvedAt: isoOrNull(all.find(isOpen)?.provedAt ?? null) };
  }

  async credentialOf(device: number): Promise<RecognizingCredential | null> {
    const open = (await this.store.identitiesOf(device)).find(isOpen);
    if (!open) return null;
    const { credentialId, publicKey, relyingParty, createdAt } = open;
    const credential = credentialWith(Buffer.from(credentialId, 'base64url'), pointIn(publicKey));
    return { ...credential, relyingParty, createdAt };
  }

  /** The credential of a new device. */
  async admit(context: Context, { serialNumber, deviceType, identity }: Registration): Promise<domain.IdentityAdd> {
    const { identityId, ...body } = identity!;
    const challenge = this.#open(context, identityId);
    if (body.numberSource === 'auto' && serialNumber !== numberOf(challenge))
      throw inputError('serialNumber', 'is not the number of this challenge');
    const made = await this.#made(body, challenge);
    return {
      kind: 'identity.add',
      identity: made,
      device: { serialNumber },
      entry: domain.identityEntry('bound', deviceType),
    };
  }

  async bind(context: Context, identityId: string, body: BindBody): Promise<Identified> {
    const challenge = this.#open(context, identityId);
    return retrying(async () => {
      const device = await readDevice(this.store, body.deviceId);
      if (device.status === 'DEACTIVATED') throw new ApiError(Code.deviceDeactivated);
      const present = (await this.store.identitiesOf(device.number)).find(isOpen);
      if (present) demandReplacement(context, device, body.replace === true);
      const identity = await this.#made(body, challenge, device);
      const at = this.now();
      const add: domain.IdentityAdd = {
        kind: 'identity.add',
        identity,
        device: device.number,
        replaces: present?.number,
        entry: domain.identityEntry('bound', device.deviceType),
      };
      const changes = [...(present ? [domain.lost(present, device.deviceType, 'replaced', at)] : []), add];
      return commitLast(this.store, context, { at, changes }, () => identified(device, true, null));
    });
  }

  /** Refuses the credential of a device: a key that has one is that device. `device`: the one that the key should be. */
  async #made(body: MadeBody, challenge: Challenge, device: DeviceRecord | null = null): Promise<domain.NewIdentity> {
    const { evidence, transports = [], firmware, station, numberSource } = body;
    const made = madeCredential(evidence, {
      relyingParty: this.parts.relyingParty,
      clientDataHash: identityDataHash(this.parts.relyingParty, challenge.challenge),
    });
    const existing = await this.store.identityWith(made.credentialId);
    if (existing) throw otherKey((await this.store.device(existing.device))!, device);
    return {
      ...made,
      aaguid: made.aaguid === ZERO_AAGUID ? (body.aaguid ?? ZERO_AAGUID) : made.aaguid,
      relyingParty: this.parts.relyingParty,
      transports,
      firmware: firmware ?? '',
      numberSource,
      counter: 0,
      station: station ?? '',
    };
  }

  async prove(context: Context, identityId: string, body: ProveBody): Promise<Identified> {
    return retrying(async () => {
      const { action, deviceId } = body;
      if (action !== undefined && deviceId === undefined) throw inputError('deviceId', 'is required with action');
      const unbound = action === undefined ? this.#open(context, identityId) : null;
      const expected = deviceId === undefined ? null : await readDevice(this.store, deviceId);
      const challenge = unbound ?? this.#open(context, identityId, { action: action!, device: expected! });
      const { credential, device } = await this.#credentialWith(body.credentialId, expected);
      const hash = identityDataHash(credential.relyingParty, challenge.challenge);
      const { touched, counter } = checkedSignature(credential, hash, body);
      if (touched) demandNext(credential, challenge, counter);
      const at = this.now();
      const seen = {
        counter: Math.max(counter, credential.counter),
        seenAt: at,
        station: body.station ?? credential.station,
      };
      const provedAt = touched ? at : credential.provedAt;
      const data = () => identified(device, touched, provedAt);
      if (!touched && seen.station === credential.station && at - credential.seenAt < PLACE_MS) return data();
      const detail = { identityId, ...(action && { action }) };
      const entry = touched ? domain.identityEntry('proved', device.deviceType, detail) : null;
      const change = domain.changed(credential, touched ? { ...seen, provedAt: at } : seen, entry);
      return commitLast(this.store, context, { at, changes: [change] }, data);
    });
  }

  /** The credential, and its device: the one that the key should be. */
  async #credentialWith(credentialId: string, expected: DeviceRecord | null) {
    const credential = await this.store.identityWith(credentialId);
    if (!credential) throw inputError('credentialId', ': no device has this credential');
    const device = (await this.store.device(credential.device))!;
    if (expected !== null && expected.number !== device.number) throw otherKey(device, expected);
    if (credential.lostAt !== null)
      throw inputError('credentialId', ': a reset of the key is recorded that has erased this credential');
    return { credential, device };
  }

  async demandSigned(
    context: Context,
    device: DeviceRecord,
    action: IdentityAction,
    signature: ActionSignature | undefined,
  ): Promise<readonly domain.IdentityChange[]> {
    const { relyingParty } = this.parts;
    const present = (await this.store.identitiesOf(device.number)).find(isOpen);
    const at = this.now();
    // Making the credential took a touch. One that seems to be made later was made before the clock was set back.
    if (present?.relyingParty !== relyingParty || Math.abs(at - present.createdAt) < VALID_MS) return [];
    if (signature === undefined) throw unsigned(device, action);
    const challenge = this.#open(context, signature.identityId, { action, device });
    const { credential } = await this.#credentialWith(signature.credentialId, device);
    const hash = identityDataHash(relyingParty, challenge.challenge);
    const { touched, counter } = checkedSignature(credential, hash, signature);
    if (!touched) throw inputError('identity', `: the key of ${nameOf(device)} was not touched`);
    if (isCounted(credential, challenge, counter)) return [];
    demandNext(credential, challenge, counter);
    const { identityId } = signature;
    const entry = domain.identityEntry('proved', device.deviceType, { identityId, action });
    return [domain.changed(credential, { counter, seenAt: at, provedAt: at }, entry)];
  }

  async devicesWith(credentialIds: readonly string[]): Promise<[string, number][]> {
    const found = await this.store.presentIdentities(credentialIds);
    return Array.from(found, ([credentialId, { device }]) => [credentialId, device]);
  }

  #open({ caller }: Context, identityId: string, purpose?: Purpose): Challenge {
    const waited = purpose?.action === 'reset' ? RESET_MS : 0;
    return this.parts.challenges.open(identityId, holderFor(caller, purpose), this.now() - waited);
  }
}

const isOpen = ({ lostAt }: domain.IdentityRecord): boolean => lostAt === null;

const identified = (device: DeviceRecord, touched: boolean, provedAt: number | null): Identified => ({
  deviceId: deviceIds.format(device.number),
  serialNumber: device.serialNumber,
  touched,
  provedAt: isoOrNull(provedAt),
});

const NUMBER_SYMBOLS = 10;

/** The serial number for a key that has none: as unlikely to be made twice as its challenge, and read like an activation code. */
function numberOf({ challenge }: Challenge): string {
  const bytes = createHash('sha256').update('number\0').update(challenge).digest().subarray(0, NUMBER_SYMBOLS);
  const symbols = Array.from(bytes, byte => activationAlphabet[byte % activationAlphabet.length]).join('');
  return `DM-${symbols.slice(0, NUMBER_SYMBOLS / 2)}-${symbols.slice(NUMBER_SYMBOLS / 2)}`;
}
