/** Texts that keys sign, their signatures, and lists of receipts. */

import { createHmac } from 'node:crypto';
import { ApiError, inputError } from '../../src/contract/codes.ts';
import { deviceIds, personIds } from '../../src/contract/ids.ts';
import { parseInstant } from '../../src/contract/instant.ts';
import { identityParty, relyingParty } from '../../src/contract/key-values.ts';
import { proofBounds } from '../../src/contract/limits.ts';
import { checkReceipt, readBrowserData, receiptHash, signedFor } from '../../src/contract/receipts/check.ts';
import { type ReceiptFacts, readReceiptText, receiptText } from '../../src/contract/receipts/text.ts';
import type { ListedReceipt, Receipt } from '../../src/contract/receipts.ts';
import type { Body, Data, Query } from '../../src/contract/routes.ts';
import { activationAlphabet } from '../../src/contract/values.ts';
import { iso } from '../base/time.ts';
import type { IdentityJudge, RecognizingCredential } from '../devices/judges.ts';
import { readDevice } from '../devices/lookups.ts';
import type { DeviceRecord } from '../devices/records.ts';
import { personOf } from '../people/lookups.ts';
import type { TrustedRoots } from '../proofs/trusted.ts';
import {
  accept,
  type Context,
  commitLast,
  holderOf,
  retrying,
  Service,
  type ServiceParts,
  timeOf,
} from '../requests/context.ts';
import { readPage } from '../store/page.ts';
import { type Signer, type Signers, signersOf } from './credentials.ts';
import { type NewReceipt, type ReceiptRecord, receiptRefusal, sign } from './records.ts';

/** Dependencies of the service. */
interface ReceiptServiceParts extends ServiceParts {
  readonly roots: Pick<TrustedRoots, 'current'>;
  readonly identities: Pick<IdentityJudge, 'credentialOf' | 'demandSigned'> | undefined;
  readonly registryId: string;
  /** Shared by all daemons of the registry, so that each accepts the texts of the others. */
  readonly secret: Uint8Array;
}

/** `clientData`: of the browser that asked the key. */
type Submission = Body<'submitReceipt'> & { readonly clientData?: string | undefined };

/** The browser of a person: the page that asks, and the credentials that it can ask. */
export interface ReceiptBrowser {
  readonly origin: string;
  readonly keys: readonly RecognizingCredential[];
}

const VALID_MS = 1000 * proofBounds.challengeSeconds;
const ID_SYMBOLS = 20;

/** A refusal is thrown as an `ApiError`. */
export class ReceiptService extends Service<ReceiptServiceParts> {
  async create(context: Context, body: Body<'createReceipt'>): Promise<Data<'createReceipt'>> {
    const at = this.now();
    const { kind, terms } = body;
    const dueAt = dueTime(body, at);
    const device = await readDevice(this.store, body.deviceId);
    accept(receiptRefusal(kind, device));
    const { serialNumber, userId, tags } = device;
    if (userId === null) throw inputError('deviceId', `: device ${body.deviceId} is not bound to a person`);
    const facts = {
      kind,
      registryId: this.parts.registryId,
      deviceId: deviceIds.format(device.number),
      serialNumber,
      lot: tags.lot ?? null,
      person: userId,
      name: oneLine((await personOf(this.store, device))?.name),
      date: iso(at),
      dueAt,
      terms,
    };
    const receiptId = this.#idOf(context, facts);
    const text = receiptText({ ...facts, receiptId });
    const { signers, problem } = await this.#signers(context, device, kind);
    // A key is asked for credentials of one relying party.
    const party = signers[0]?.relyingParty ?? relyingParty;
    return {
      receiptId,
      challenge: receiptHash(text).toString('base64url'),
      text,
      relyingParty: party,
      credentials: signers.flatMap(one => (one.relyingParty === party ? one.credential.id : [])),
      problem,
      expiresAt: iso(at + VALID_MS),
    };
  }

  /** Refuses with 404 a text that this registry did not make for this caller, and with 1001 an expired text or an invalid signature. */
  submit(context: Context, receiptId: string, body: Submission, browser?: ReceiptBrowser): Promise<Receipt> {
    const facts = readReceiptText(body.text);
    if (!facts || facts.receiptId !== receiptId || this.#idOf(context, facts) !== receiptId)
      throw new ApiError(404, 'no such receipt: receiptId does not belong to this text and caller');
    // Also one that a clock has dated in the future: it would be valid until then.
    if (Math.abs(this.now() - Date.parse(facts.date)) >= VALID_MS)
      throw inputError('receiptId', ': this receipt has expired; request another one');
    return retrying(() => this.#submit(context, facts, body, browser));
  }

  async #submit(
    context: Context,
    facts: ReceiptFacts,
    body: Submission,
    browser: ReceiptBrowser | undefined,
  ): Promise<Receipt> {
    const { receiptId, kind, deviceId, dueAt, person } = facts;
    if (await this.store.receipt(receiptId)) throw signedBefore();
    const device = await readDevice(this.store, deviceId);
    accept(receiptRefusal(kind, device));
    if (device.userId !== person)
      throw inputError('text', `: device ${deviceId} is now bound to another person; request another receipt`);
    const { clientData } = body;
    const { signers } = await this.#signers(context, device, kind, clientData === undefined ? [] : browser?.keys);
    if (clientData !== undefined && readBrowserData(clientData)?.origin !== browser?.origin)
      throw inputError('clientData', ': it is not of this page');
    const signer = signers.find(({ credential }) => credential.id === body.credentialId);
    if (!signer) throw inputError('credentialId', `: ${NOT_ACCEPTED}`);
    const isForIt = signedFor(body.authenticatorData, facts.registryId, clientData) === signer.relyingParty;
    const checked = isForIt
      ? checkReceipt({ ...body, proof: { clientData: clientData ?? null } }, signer.credential.publicKey)
      : 'it was signed for another relying party';
    if (typeof checked === 'string') throw inputError('signature', `: ${checked}`);
    const receipt = newReceipt({ receiptId, device: device.number, kind, dueAt }, body, signer);
    const holder = device.person && personIds.format(device.person);
    const { change, guards } = sign(device, receipt, holder || null);
    const isRecognized = signer.relyingParty === identityParty(facts.registryId);
    const signed =
      isRecognized || clientData !== undefined
        ? []
        : await this.parts.identities?.demandSigned(context, device, 'receipt', body.identity);
    const at = this.now();
    return commitLast(this.store, context, { at, changes: [change, ...(signed ?? [])], guards }, ([result]) => {
      if (result?.kind === 'duplicate') throw signedBefore();
      return shown({ ...receipt, createdAt: timeOf(result, at) }, null);
    });
  }

  async show(receiptId: string): Promise<Receipt> {
    const found = await this.store.receipt(receiptId);
    if (!found) throw new ApiError(404, 'no such receipt, or no key has signed it');
    return shown(found, await this.#closing(found));
  }

  async list(query: Query<'listReceipts'>): Promise<Data<'listReceipts'>> {
    const { deviceId, overdue, ...page } = query;
    const device = deviceId === undefined ? undefined : (await readDevice(this.store, deviceId)).number;
    const filter = { device, overdueAt: overdue ? this.now() : undefined };
    const { list, ...rest } = await readPage(page, window => this.store.receipts({ ...filter, ...window }));
    return { list: await Promise.all(list.map(async one => listed(one, await this.#closing(one)))), ...rest };
  }

  async #closing({ closedBy }: ReceiptRecord): Promise<string | null> {
    return closedBy === null ? null : ((await this.store.receiptNumbered(closedBy))?.receiptId ?? null);
  }

  async #signers(
    { caller }: Context,
    device: DeviceRecord,
    kind: ReceiptFacts['kind'],
    inBrowser: readonly RecognizingCredential[] = [],
  ): Promise<Signers> {
    const { roots, identities } = this.parts;
    const [trust, identity] = await Promise.all([roots.current(), identities?.credentialOf(device.number)]);
    const of = { device, kind, role: caller.role, trust, identity: identity ?? null, inBrowser };
    return signersOf(this.store, { ...of, now: this.now() });
  }

  /** The id authenticates the text and the caller, so nothing has to be stored before the key has signed. */
  #idOf({ caller }: Context, facts: Omit<ReceiptFacts, 'receiptId'>): string {
    const text = receiptText({ ...facts, receiptId: '' });
    const code = createHmac('sha256', this.parts.secret)
      .update(`${holderOf(caller)}\0`)
      .update(text)
      .digest();
    return `RCT-${Array.from(code.subarray(0, ID_SYMBOLS), byte => activationAlphabet[byte % 32]).join('')}`;
  }
}

const NOT_ACCEPTED =
  'this credential may not sign. Prove the key by FIDO first; a return is signed by the key that was issued, and another key needs grade unit or an ADMIN';
const signedBefore = () => inputError('receiptId', ': this receipt was signed before');

const oneLine = (name: string | null | undefined): string | null => name?.replaceAll(/\s+/gu, ' ').trim() || null;

/** When a loan ends; null for other kinds. */
function dueTime({ kind, dueAt }: Body<'createReceipt'>, at: number): string | null {
  if (kind !== 'loan') {
    if (dueAt) throw inputError('dueAt', `must be absent: a ${kind} has no end`);
    return null;
  }
  const due = dueAt ? parseInstant(dueAt) : null;
  if (!due) throw inputError('dueAt', 'of a loan must be an ISO 8601 time with a zone');
  if (due.getTime() <= at) throw inputError('dueAt', 'must be in the future');
  return due.toISOString();
}

function newReceipt(
  { dueAt, ...of }: Pick<NewReceipt, 'receiptId' | 'device' | 'kind'> & Pick<ReceiptFacts, 'dueAt'>,
  { text, credentialId, authenticatorData, signature, clientData }: Submission,
  { credential, proof: known }: Signer,
): NewReceipt {
  const proof = clientData === undefined ? known : { ...known, clientData };
  const publicKey = credential.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const signed = { text, credentialId, authenticatorData, signature, publicKey };
  return { ...of, ...signed, proof, openUntil: dueAt === null ? null : Date.parse(dueAt) };
}

type StoredReceipt = Pick<ReceiptRecord, 'text' | 'createdAt'>;

function listed({ text, createdAt }: StoredReceipt, closedBy: string | null): ListedReceipt {
  const { registryId: _, terms: __, ...facts } = readReceiptText(text)!;
  return { ...facts, signedAt: iso(createdAt), closedBy };
}

function shown(row: NewReceipt & StoredReceipt, closedBy: string | null): Receipt {
  const { text, credentialId, authenticatorData, signature, publicKey, proof } = row;
  const { registryId, terms } = readReceiptText(text)!;
  const { clientData = null } = proof;
  const party = signedFor(authenticatorData, registryId, clientData)!;
  const by = { publicKey, proof: { ...proof, clientData } };
  const signed = { text, relyingParty: party, credentialId, authenticatorData, signature, ...by };
  return { ...listed(row, closedBy), registryId, terms, ...signed };
}
