/** What people see of their own keys, and do with them. No note, reason or name of others is in a response. */
import { ApiError, Code, inputError } from '../../src/contract/codes.ts';
import type { OwnDevice } from '../../src/contract/holders.ts';
import { deviceIds, personIds } from '../../src/contract/ids.ts';
import { eventPage, holderBounds } from '../../src/contract/limits.ts';
import { receiptHash } from '../../src/contract/receipts/check.ts';
import { readReceiptText } from '../../src/contract/receipts/text.ts';
import type { Body, Data, Query } from '../../src/contract/routes.ts';
import type { HolderStep } from '../../src/contract/values.ts';
import { isoOrNull } from '../base/time.ts';
import { lock, noteLost } from '../devices/decisions.ts';
import { readDevice } from '../devices/lookups.ts';
import { type DeviceRecord, isOnItsWay } from '../devices/records.ts';
import type { IssuedKeys } from '../issuing/start.ts';
import type { ReceiptService } from '../receipts/service.ts';
import { accept, type Context, commitLast, retrying, Service, type ServiceParts } from '../requests/context.ts';
import type { RelyingParty } from '../requests/relying-party.ts';
import type { HolderLinks } from '../sign-in/judges.ts';

/** Dependencies of the service. Other subjects are looked up when they are needed. */
interface HolderServiceParts extends ServiceParts {
  readonly links: () => HolderLinks | undefined;
  readonly receipts: () => Pick<ReceiptService, 'create' | 'submit'>;
  readonly issued: () => IssuedKeys;
  readonly events: (query: Query<'listEvents'>) => Promise<Data<'listEvents'>>;
}

/** What a holder agrees to. */
const TERMS = 'I have received this key.';
/** Entries that give a device to a person. An update does so if it names the person: `people match`, its undo, a person added later. */
const bindingTypes = ['DEVICE_ACTIVATED', 'DEVICE_UPDATED'] as const;
/** Portions that are searched for the last of these: a device with more updates shows those that were searched. */
const MAX_PORTIONS = 20;

/** When a device became that of its person, in milliseconds since 1970. */
interface Beginning {
  /** Of the entry. */
  readonly id: number;
  /** Times of the device from then on are those of the person. */
  readonly since: number;
  /** Credentials that were issued from then on are those of the person. */
  readonly issuedSince: number;
}

/** A refusal is thrown as an `ApiError`. */
export class HolderService extends Service<HolderServiceParts> {
  async list(context: Context): Promise<Data<'listOwnDevices'>> {
    const rows = (await this.store.devicesOf(await this.#person(context))).slice(-holderBounds.devices);
    const found = await Promise.all(rows.map(({ number }) => this.store.device(number)));
    const own = found.filter(device => device !== null).reverse();
    const shown = own.map(async device => {
      const { since, issuedSince } = await this.#beginning(device);
      return present(device, since, await this.parts.issued().providersOf(device.number, issuedSince));
    });
    return { list: await Promise.all(shown) };
  }

  async events(
    context: Context,
    deviceId: string,
    { before = Number.MAX_SAFE_INTEGER, limit = eventPage.default }: Query<'listOwnDeviceEvents'>,
  ): Promise<Data<'listOwnDeviceEvents'>> {
    const device = await this.#own(context, deviceId);
    const { deviceType } = device;
    const after = (await this.#beginning(device)).id - 1;
    const { list } = await this.parts.events({ deviceId, before, after, limit });
    return {
      list: list.map(({ id, type, timestamp, data }) => ({
        id: id!,
        type,
        timestamp,
        data: { deviceId, deviceType, ...(type === 'RECEIPT_SIGNED' && { kind: (data as { kind: 'handover' }).kind }) },
      })),
    };
  }

  lost(context: Context, deviceId: string, { reason }: Body<'reportLost'>): Promise<Data<'reportLost'>> {
    return retrying(async () => {
      const device = await this.#own(context, deviceId);
      const { number, status, lockedAt } = device;
      const { since } = await this.#beginning(device);
      const shown = (at: number | null) =>
        ({ deviceId: deviceIds.format(number), status: 'LOCKED', lockedAt: shownTime(at, since) }) as const;
      if (status === 'LOCKED' && (await this.#isReported(number))) return shown(lockedAt);
      const at = this.now();
      const { change, guards } = noteLost(device, reason);
      if (status === 'LOCKED')
        return commitLast(this.store, context, { at, changes: [change], guards }, () => shown(lockedAt));
      const locked = accept(lock(device, reason, null, at));
      const changes = [locked.change, change];
      return commitLast(this.store, context, { at, changes, guards }, () => shown(at));
    });
  }

  /** `site`: of the page that the person may have open; a text if keys cannot be used there. */
  async received(
    context: Context,
    deviceId: string,
    { receiptId, ...body }: Body<'confirmReceived'>,
    site: RelyingParty | string,
  ): Promise<Data<'confirmReceived'>> {
    const device = await this.#own(context, deviceId);
    const id = deviceIds.format(device.number);
    const receipts = this.parts.receipts();
    if (!isOnItsWay(device))
      throw new ApiError(Code.parameterError, `device ${id} is not on its way: it was not sent, or has arrived`);
    const owner = context.caller.user!.number;
    const keys = typeof site === 'string' ? [] : await this.parts.issued().signInKeysOf(device.number, site.id, owner);
    if (receiptId === undefined) {
      const started = await receipts.create(context, { deviceId: id, kind: 'handover', terms: TERMS });
      const browser = { relyingParty: keys[0]?.relyingParty ?? '', credentials: keys.map(({ id }) => id) };
      return { ...started, browser: keys.length > 0 ? browser : null, receivedAt: null };
    }
    const signed = signedIn(body);
    if (readReceiptText(signed.text)?.deviceId !== id)
      throw inputError('text', ': it is not the text of a receipt of this device');
    const browser = typeof site === 'string' ? undefined : { origin: site.origin, keys };
    const receipt = await receipts.submit(context, receiptId, { ...signed, clientData: body.clientData }, browser);
    return {
      receiptId: receipt.receiptId,
      challenge: receiptHash(receipt.text).toString('base64url'),
      text: receipt.text,
      relyingParty: receipt.relyingParty,
      credentials: [receipt.credentialId],
      problem: null,
      browser: null,
      expiresAt: null,
      receivedAt: receipt.signedAt,
    };
  }

  /** The person who makes the request, by number. Refuses with 2007 one who is not a person of the registry, or has left. */
  async #person({ caller: { user } }: Context): Promise<number> {
    const number = user && (await this.parts.links()?.holderOf(user));
    const person = number ? await this.store.person(number) : null;
    if (!person?.active)
      throw new ApiError(Code.noPermission, 'this account does not belong to a person of the registry');
    return person.number;
  }

  /** A device of the person who makes the request. Refuses with 2001 any other, as if it did not exist. */
  async #own(context: Context, deviceId: string): Promise<DeviceRecord> {
    const person = await this.#person(context);
    const device = await readDevice(this.store, deviceId);
    if (device.person !== person) throw new ApiError(Code.deviceNotFound);
    return device;
  }

  /**
   * The entry by which a device became that of its person. What was before belongs to others: if none is found, nothing is shown. Providers
   * may have accepted the key before, for its name: that counts unless another person had it.
   */
  async #beginning({ number: device, person }: DeviceRecord): Promise<Beginning> {
    let before = Number.MAX_SAFE_INTEGER;
    let own: Pick<Beginning, 'id' | 'since'> | undefined;
    for (let portion = 0; portion < MAX_PORTIONS; portion++) {
      const entries = await this.store.events({ after: 0, before, limit: eventPage.max, types: bindingTypes, device });
      for (const { id, at, type, detail } of entries) {
        const isFirst = type === 'DEVICE_ACTIVATED';
        if (!isFirst && !('personId' in detail)) continue;
        // A device has no times of others before its activation, and that time can be a little before that of the entry.
        own ??= { id, since: isFirst ? 0 : at };
        const isOfOther = detail.personId && detail.personId !== personIds.format(person!);
        if (isOfOther || isFirst) return { ...own, issuedSince: isOfOther ? own.since : 0 };
      }
      before = entries.at(-1)?.id ?? before;
      if (entries.length < eventPage.max) break;
    }
    own ??= { id: before, since: Number.MAX_SAFE_INTEGER };
    return { ...own, issuedSince: own.since };
  }

  /** Whether the present lock was reported. By the order of the entries: a clock can be set back. */
  async #isReported(device: number): Promise<boolean> {
    const newest = { after: 0, before: Number.MAX_SAFE_INTEGER, limit: 1 };
    const [last] = await this.store.events({ ...newest, types: ['DEVICE_LOCKED', 'DEVICE_LOST'], device });
    return last?.type === 'DEVICE_LOST';
  }
}

/** What the key has signed. Refuses with 1001 a body that lacks a part of it. */
function signedIn(body: Body<'confirmReceived'>) {
  const given = (field: 'text' | 'credentialId' | 'authenticatorData' | 'signature'): string => {
    const value = body[field];
    if (value === undefined) throw inputError(field, 'is required');
    return value;
  };
  const [text, credentialId] = [given('text'), given('credentialId')];
  return { text, credentialId, authenticatorData: given('authenticatorData'), signature: given('signature') };
}

/** A time, unless it is one of a former holder. */
const shownTime = (at: number | null, since: number): string | null => isoOrNull(at !== null && at < since ? null : at);

/** `since`: see `Beginning`. A key that was sent before can still be confirmed: it is on its way to its person. */
function present(device: DeviceRecord, since: number, signsInAt: readonly string[]): OwnDevice {
  const { number, deviceType, serialNumber, manufacturer, model, status } = device;
  return {
    deviceId: deviceIds.format(number),
    deviceType,
    serialNumber,
    manufacturer,
    model,
    status,
    activatedAt: shownTime(device.activatedAt, since),
    lockedAt: shownTime(device.lockedAt, since),
    shippedAt: shownTime(device.shippedAt, since),
    receivedAt: shownTime(device.receivedAt, since),
    signsInAt: [...signsInAt],
    next: nextOf(device),
  };
}

function nextOf(device: DeviceRecord): HolderStep {
  if (device.status === 'DEACTIVATED') return 'return';
  if (device.status === 'LOCKED') return 'help';
  return isOnItsWay(device) ? 'receive' : 'none';
}
