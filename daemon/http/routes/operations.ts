/** What carries out each operation of the contract: one table for a daemon with a registry, a part of it for a station. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, Code } from '../../../src/contract/codes.ts';
import { daemonSettings } from '../../../src/contract/daemon-settings.ts';
import type { DataOf } from '../../../src/contract/define.ts';
import { exportTypes } from '../../../src/contract/devices.ts';
import { deviceIds } from '../../../src/contract/ids.ts';
import { connectionEnd } from '../../../src/contract/local.ts';
import type { Routes } from '../../../src/contract/routes.ts';
import { exportFormats } from '../../../src/contract/values.ts';
import * as present from '../../accounts/present.ts';
import type { KeySource } from '../../hardware/attached-keys.ts';
import type { Instance, InstanceProof } from '../../home/instance.ts';
import { clientOf } from '../../loopback.ts';
import { type AccessJournal, accessOf } from '../../services/access-journal.ts';
import type { AppService } from '../../services/apps.ts';
import type { AuthService } from '../../services/auth.ts';
import type { BackupService } from '../../services/backups.ts';
import { retrying } from '../../services/context.ts';
import type { DeviceExport } from '../../services/device-export.ts';
import { type DeviceService, filterOf } from '../../services/devices.ts';
import type { DirectorySettingsService } from '../../services/directory/settings.ts';
import type { DirectorySync } from '../../services/directory/sync.ts';
import type { EventService } from '../../services/events.ts';
import type { CredentialService } from '../../services/issuing/credential-service.ts';
import type { KeyResetService } from '../../services/issuing/key-reset-service.ts';
import type { PinService } from '../../services/issuing/pin-service.ts';
import type { ProviderService } from '../../services/issuing/provider-service.ts';
import type { Reconcile } from '../../services/issuing/reconcile.ts';
import { RateLimited, type RequestLimits } from '../../services/limiter.ts';
import type { MatchingDevices } from '../../services/people/matching-devices.ts';
import type { PeoplePolicies } from '../../services/people/people-policies.ts';
import type { PeopleService } from '../../services/people/people-service.ts';
import type { RefusedRequests } from '../../services/people/refused.ts';
import type { ProofPolicies } from '../../services/proofs/policies.ts';
import type { ProofService } from '../../services/proofs/proof-service.ts';
import type { TrustFile, TrustService } from '../../services/proofs/trust-service.ts';
import type { Readiness } from '../../services/readiness.ts';
import type { ReceiptService } from '../../services/receipts/receipt-service.ts';
import type { StepUpRule } from '../../services/session.ts';
import type { KeySignIn } from '../../services/sign-in/key-sign-in.ts';
import type { PasskeyService } from '../../services/sign-in/passkeys.ts';
import type { RelyingParty } from '../../services/sign-in/relying-party.ts';
import type { SignInPolicies } from '../../services/sign-in/sign-in-policies.ts';
import type { TerminalLogins } from '../../services/sign-in/terminal-logins.ts';
import type { SignInCodes } from '../../services/sign-in-codes.ts';
import type { SsoSessions } from '../../services/sso/sessions.ts';
import type { SsoSettingsService } from '../../services/sso/settings.ts';
import type { SsoSignIn } from '../../services/sso/sign-in.ts';
import type { TokenService } from '../../services/token-service.ts';
import type { UserService } from '../../services/users.ts';
import type { WebhookService } from '../../services/webhooks.ts';
import type { Bindings } from '../bindings.ts';
import { exportContent, sendDownload } from '../download.ts';
import { isFromThisMachine } from '../local-request.ts';
import { bearer } from '../operation.ts';
import { checkSameOrigin } from '../origin.ts';
import { JSON_TYPE, RETRY_AFTER, versionTag } from '../responses.ts';
import { callbackOf, finishSso, setSsoCookie, ssoCookie } from '../sso.ts';
import type { ScimServices } from './scim.ts';

/** What a station serves. */
interface StationServices {
  readonly keys: KeySource;
  /** Whether keys of this machine may be issued over the network; absent: only by users of the machine. */
  readonly remoteIssuing?: boolean | undefined;
  readonly readiness: Pick<Readiness, 'report'>;
  /** Version of the program. */
  readonly version: string;
  readonly instance: Instance;
  readonly limiter: RequestLimits;
}

/** What a daemon with a registry serves. */
export interface RegistryServices extends StationServices {
  readonly auth: AuthService;
  readonly keySignIn: KeySignIn;
  readonly passkeys: PasskeyService;
  readonly signInPolicies: SignInPolicies;
  readonly terminalLogins: TerminalLogins;
  readonly signInCodes: SignInCodes;
  /** The site of a request, or why there is none. */
  readonly siteOf: (request: FastifyRequest) => RelyingParty | string;
  /** Where people open the daemon. */
  readonly originOf: (request: FastifyRequest) => string;
  readonly ssoSettings: SsoSettingsService;
  readonly ssoSignIn: SsoSignIn;
  readonly ssoSessions: SsoSessions;
  readonly stepUp: StepUpRule;
  readonly users: UserService;
  readonly serviceTokens: TokenService;
  readonly people: PeopleService;
  readonly refused: RefusedRequests;
  readonly matching: MatchingDevices;
  readonly peoplePolicies: PeoplePolicies;
  readonly directorySettings: DirectorySettingsService;
  readonly directorySync: DirectorySync;
  /** Has routes of its own. */
  readonly scim: ScimServices;
  readonly providers: ProviderService;
  readonly credentials: CredentialService;
  readonly pins: PinService;
  readonly resets: KeyResetService;
  readonly reconcile: Reconcile;
  readonly devices: DeviceService;
  readonly exports: DeviceExport;
  readonly statistics: () => Promise<DataOf<Routes['getStatistics']>>;
  readonly apps: AppService;
  readonly backups: BackupService;
  readonly events: EventService;
  readonly proofs: ProofService;
  readonly trust: TrustService;
  readonly policies: ProofPolicies;
  readonly receipts: ReceiptService;
  readonly webhooks: WebhookService;
  readonly access: AccessJournal;
  /** Replaces `stallSeconds`. */
  readonly stallMs?: number;
}

const batchMessage = ({ failed }: { readonly failed: number }): string =>
  failed === 0 ? 'success' : 'batch completed with partial failure';

/** Whether a download has content: the client may have the file already, or have asked for a part that does not exist. */
const isSent = ({ statusCode }: FastifyReply): boolean => statusCode === 200 || statusCode === 206;

/** Aborted when the client closes the connection before it has the response. */
function untilClosed(reply: FastifyReply): AbortSignal {
  const closed = new AbortController();
  reply.raw.once('close', () => closed.abort());
  return closed.signal;
}

const ISSUED_HERE = `keys that are plugged into the machine of the daemon are issued on it: use devmgr there, or the console at its loopback address. Its operator can allow the network: ${daemonSettings.remoteIssuing.variable}=on`;

/** The operations of a station: attached keys and health. The uptime counts from this call. */
export function stationOperations(to: StationServices): Bindings {
  const startedAt = performance.now();
  return {
    listKeys: async () => ({ list: await to.keys.list(), drivers: to.keys.driverStatuses() }),
    proveKey: ({ params, body, reply }) => to.keys.prove(params.keyId, body, untilClosed(reply)),
    issueKey: async ({ params, body, reply }) => {
      if (to.remoteIssuing !== true && !isFromThisMachine(reply.request))
        throw new ApiError(Code.noPermission, ISSUED_HERE);
      return to.keys.issue(params.keyId, body, untilClosed(reply));
    },
    signReceipt: ({ params, body, reply }) => to.keys.sign(params.keyId, body, untilClosed(reply)),
    getHealth: {
      raw: async ({ query, request, reply }) => {
        const proof = query.nonce === undefined ? {} : { identity: proveIdentity(to, query.nonce, request) };
        const { ready, reason, store } = await to.readiness.report();
        const data: DataOf<Routes['getHealth']> = {
          status: ready ? 'ok' : 'degraded',
          service: 'devmgr',
          version: to.version,
          ready,
          reason,
          node: request.server.node,
          idempotencyKeys: true,
          store: { state: store.ready ? 'ready' : 'unavailable', detail: store.detail },
          drivers: [...to.keys.driverStatuses()],
          uptimeSeconds: Math.floor((performance.now() - startedAt) / 1000),
          ...proof,
        };
        reply.header('content-type', JSON_TYPE);
        if (reason === null) return JSON.stringify({ code: 200, message: 'success', data });
        // A client that asks who answers, or whether it accepts keys, still needs to know.
        reply.code(503).header('retry-after', String(RETRY_AFTER));
        return JSON.stringify({ code: 500, message: reason, data });
      },
    },
  };
}

/** Needs no token, so that signatures are bounded by the client address. */
function proveIdentity(
  { limiter, instance }: StationServices,
  nonce: string,
  { ip, socket }: FastifyRequest,
): InstanceProof {
  const allowance = limiter.countHere('query', `identity of ${clientOf(ip)}`);
  if (allowance && !allowance.allowed) throw new RateLimited(allowance);
  return instance.prove(nonce, connectionEnd(socket.localAddress, socket.localPort));
}

/** The operations of a daemon with a registry. */
export const registryOperations = (to: RegistryServices): Bindings => ({
  ...stationOperations(to),
  ...signInOperations(to),
  ...ssoOperations(to),
  ...accountOperations(to),
  ...peopleOperations(to),
  ...issuingOperations(to),
  ...deviceOperations(to),
  ...fileOperations(to),
  ...proofOperations(to),
  ...webhookOperations(to),
  listEvents: ({ query, context: { caller } }) => to.events.list(query, caller.role === 'ADMIN'),
});

/** Logins and what they are made with: passwords, security keys, codes, and approvals of terminals. */
const signInOperations = (to: RegistryServices): Bindings => ({
  login: ({ body, context: { address, requestId }, request }) =>
    to.auth.login(body, { address, requestId, site: to.siteOf(request) }),
  refreshToken: ({ context }) => to.auth.refresh(context),
  getSession: async ({ context: { caller } }) => present.session(caller),
  createSignInCode: ({ context, body, request }) => to.signInCodes.create(context.caller, bearer(request), body),
  exchangeSignInCode: ({ context, body, request }) => {
    checkSameOrigin(request.raw);
    return to.signInCodes.exchange(body, context);
  },
  getSignInOptions: ({ request }) => to.keySignIn.options(to.siteOf(request)),
  signInWithKey: ({ body, context: { address, requestId }, request }) =>
    to.keySignIn.login(body, to.siteOf(request), { address, requestId }),
  getKeyRegistrationOptions: ({ context, request }) => to.passkeys.options(context, to.siteOf(request)),
  registerKey: ({ context, body, request }) => to.passkeys.register(context, body, to.siteOf(request)),
  createTerminalLogin: ({ context, body }) => to.terminalLogins.create(context, body),
  showTerminalLogin: ({ body }) => to.terminalLogins.show(body),
  approveTerminalLogin: ({ context, body, request }) => to.terminalLogins.approve(context, bearer(request), body),
  takeTerminalLogin: ({ context: { address, requestId }, body }) =>
    to.terminalLogins.take(body, { address, requestId }),
  getStepUpOptions: ({ context, request }) => to.keySignIn.stepUpOptions(context, to.siteOf(request)),
  stepUp: ({ context, body, request }) => to.auth.stepUp(context, body, to.siteOf(request)),
  showSignInPolicy: () => to.signInPolicies.show(),
  setSignInPolicy: ({ context, body }) => to.signInPolicies.set(context, body),
});

/** Single sign-on. */
const ssoOperations = (to: RegistryServices): Bindings => ({
  showSso: () => to.ssoSettings.show(),
  showSsoSettings: () => to.ssoSettings.settings(),
  setSso: ({ context, body }) => to.ssoSettings.set(context, body),
  testSso: ({ request }) => to.ssoSettings.test(to.originOf(request)),
  startSso: async ({ body, request, reply, context: { address } }) => {
    checkSameOrigin(request.raw);
    const origin = to.originOf(request);
    const { data, cookie } = await to.ssoSignIn.start(body, callbackOf(origin), {
      earlier: ssoCookie(request),
      address,
    });
    if (cookie !== null) reply.header('set-cookie', setSsoCookie(origin, cookie));
    return data;
  },
  finishSso: { raw: call => finishSso(to.ssoSignIn, to.originOf(call.request), call) },
  showSsoTerminal: ({ body }) => to.ssoSignIn.showTerminal(body),
  takeSso: ({ body, context: { address, requestId } }) => to.ssoSignIn.take(body, { address, requestId }),
  startSsoDevice: ({ context: { address, requestId } }) => to.ssoSignIn.startDevice({ address, requestId }),
  pollSsoDevice: ({ body, context: { address, requestId } }) => to.ssoSignIn.pollDevice(body, { address, requestId }),
  logoutSso: ({ body }) => to.ssoSessions.logout(body.logout_token),
});

/** Users, their security keys, and service tokens. */
const accountOperations = (to: RegistryServices): Bindings => ({
  createUser: ({ context, body }) => to.users.create(context, body),
  listUsers: ({ query }) => to.users.list(query),
  getOwnUser: async ({ context }) => {
    const me = present.me(context.caller);
    if (!me) throw new ApiError(Code.noPermission);
    return me;
  },
  updateUser: ({ context, params, body }) => to.users.update(context, params.userId, body),
  setPassword: ({ context, params, body }) => to.users.setPassword(context, params.userId, body),
  logoutUser: ({ context, params }) => to.users.logout(context, params.userId),
  listKeysOfUser: ({ params }) => to.passkeys.list(params.userId),
  removeKeyOfUser: ({ context, params }) => to.passkeys.remove(context, params.userId, params.passkeyId),
  allowRegistration: ({ context, params }) => to.signInPolicies.allowRegistration(context, params.userId),
  requireKeyOfUser: ({ context, params, body }) => to.signInPolicies.require(context, params.userId, body),
  createToken: ({ context, body }) => to.serviceTokens.create(context, body),
  listTokens: ({ query }) => to.serviceTokens.list(query),
  adoptToken: ({ context, params }) => to.serviceTokens.adopt(context, params.tokenId),
  revokeToken: ({ context, params }) => to.serviceTokens.revoke(context, params.tokenId),
});

/** Persons, and the policy about them. */
const peopleOperations = (to: RegistryServices): Bindings => ({
  listPeople: ({ context, query }) => to.people.list(context, query),
  createPerson: ({ context, body }) => to.people.create(context, body),
  countLeftovers: () => to.people.leftovers(),
  getPersonAccess: ({ params }) => to.people.access(params.personId),
  getPerson: ({ context, params }) => to.people.show(context, params.personId),
  personLeaves: ({ context, params, body }) => to.people.leave(context, params.personId, body),
  personReturns: ({ context, params }) => to.people.comeBack(context, params.personId),
  listHeldPeople: ({ context }) => to.people.held(context),
  listRefusedRequests: ({ query }) => to.refused.list(query),
  listUnmatched: ({ query }) => to.matching.list(query),
  matchPeople: ({ context, body }) => to.matching.match(context, body),
  releasePeople: ({ context, body }) => to.people.release(context, body),
  showPeoplePolicy: () => to.peoplePolicies.show(),
  setPeoplePolicy: ({ context, body }) => to.peoplePolicies.set(context, body),
  showDirectory: () => to.directorySettings.show(),
  setDirectory: ({ context, body }) => to.directorySettings.set(context, body),
  testDirectory: ({ reply }) => to.directorySettings.test(untilClosed(reply)),
  syncDirectory: ({ context, body, reply }) =>
    to.directorySync.run({ isAll: true, ...body, context }, untilClosed(reply)),
});

/**
 * Providers at which keys are issued, and credentials there. Requests are repeated after a `Conflict`: the removal of a lost key may
 * have changed the same credential.
 */
const issuingOperations = (to: RegistryServices): Bindings => ({
  listProviders: () => to.providers.list(),
  createProvider: ({ context, body }) => to.providers.create(context, body),
  testProvider: ({ params }) => to.providers.test(params.providerId),
  reconcileProvider: ({ context, params, body }) => retrying(() => to.reconcile(context, params.providerId, body)),
  setProviderSecret: ({ context, params, body }) => to.providers.setSecret(context, params.providerId, body.secret),
  removeProvider: ({ context, params }) => to.providers.remove(context, params.providerId),
  listCredentials: ({ params }) => to.credentials.list(params.deviceId),
  startCredential: ({ context, params, body }) => retrying(() => to.credentials.start(context, params.deviceId, body)),
  finishCredential: ({ context, params, body }) =>
    retrying(() => to.credentials.finish(context, params.deviceId, params.credentialId, body)),
  removeCredential: ({ context, params }) =>
    retrying(() => to.credentials.remove(context, params.deviceId, params.credentialId)),
  showPinPolicy: () => to.pins.policy(),
  setPinPolicy: ({ context, body }) => to.pins.setPolicy(context, body),
  showKeyReset: ({ params }) => to.resets.show(params.deviceId),
  recordKeyReset: ({ context, params, body }) => to.resets.record(context, params.deviceId, body),
  storePin: ({ context, params, body }) => to.pins.store(context, params.deviceId, body),
  readPin: ({ context, params }) => to.pins.read(context, params.deviceId),
});

/** Devices, from registration to deactivation. */
const deviceOperations = (to: RegistryServices): Bindings => ({
  registerDevice: ({ context, body }) => to.devices.register(context, body),
  batchRegisterDevices: {
    handle: ({ context, body }) => to.devices.batchRegister(context, body.devices),
    message: batchMessage,
  },
  batchUpdateDevices: {
    handle: ({ context, body }) => {
      if (body.operation === 'DEACTIVATE') to.stepUp.check(context.caller);
      return to.devices.batchUpdate(context, body);
    },
    message: batchMessage,
  },
  activateDevice: ({ context, body }) => to.devices.activate(context, body),
  lockDevice: ({ context, params, body }) => to.devices.lock(context, params.deviceId, body),
  unlockDevice: ({ context, params, body }) => to.devices.unlock(context, params.deviceId, body),
  deactivateDevice: ({ context, params, body }) => to.devices.deactivate(context, params.deviceId, body),
  listDevices: ({ context, query }) => to.devices.list(context, query),
  exportDevices: {
    raw: async ({ context, query, request, reply }) => {
      const format = query.format ?? exportFormats[0];
      const options = { descending: query.sortOrder === 'desc', names: query.names };
      const started = await to.exports.start(context.caller, format, filterOf(query), options);
      reply.header('content-type', format === 'csv' ? `${exportTypes.csv}; charset=utf-8` : exportTypes.ndjson);
      reply.header('content-disposition', `attachment; filename="devices.${format}"`);
      return reply.send(exportContent(started, request, reply, to.stallMs));
    },
  },
  getStatistics: () => to.statistics(),
  getDevice: async ({ context, params: { deviceId }, query: { events: limit }, reply }) => {
    const detail = await to.devices.detail(context, deviceId);
    reply.header('etag', versionTag(detail.version));
    if (limit === undefined) return detail;
    const newest = { deviceId, before: Number.MAX_SAFE_INTEGER, limit };
    const { list } = await to.events.list(newest, context.caller.role === 'ADMIN');
    return { ...detail, events: list };
  },
  updateDevice: ({ context, params, body, request }) =>
    to.devices.update(context, params.deviceId, body, (request.body ?? {}) as Record<string, unknown>),
  generateActivationCode: ({ context, body }) => to.devices.generateCode(context, body),
  recordUsage: ({ context, params, body }) => to.devices.recordUsage(context, params.deviceId, body.durationSeconds),
});

/** Files: application versions, and backups of devices. */
const fileOperations = (to: RegistryServices): Bindings => ({
  uploadAppVersion: {
    early: async (_, form, fileName) => void (await to.apps.judge(form, fileName)),
    stage: ({ context }, file) => to.apps.stage({ context, ...file }),
    add: ({ context }, { form, ...file }) => to.apps.upload(context, form, file),
  },
  listAppVersions: ({ query }) => to.apps.list(query),
  getLatestAppVersion: ({ query }) => to.apps.latest(query),
  getAppVersion: ({ params }) => to.apps.show(params.versionId),
  downloadAppVersion: {
    raw: async ({ context, params: { versionId }, request, reply }) => {
      const sent = await sendDownload(request, reply, await to.apps.download(versionId), to.stallMs);
      if (isSent(reply)) to.access.record({ type: 'PACKAGE_DOWNLOADED', ...accessOf(context), detail: { versionId } });
      return sent;
    },
  },
  createBackup: {
    early: ({ context, params }) => to.backups.judge(context, params.deviceId),
    stage: ({ context }, file) => to.backups.stage({ context, ...file }),
    add: ({ context, params }, { form, ...file }) => to.backups.create(context, params.deviceId, form, file),
  },
  listBackups: ({ params, query }) => to.backups.list(params.deviceId, query),
  restoreBackup: ({ context, params }) => to.backups.restore(context, params.deviceId, params.backupId),
  downloadBackup: {
    raw: async ({ context, params: { deviceId, backupId }, request, reply }) => {
      const sent = await sendDownload(request, reply, await to.backups.download(deviceId, backupId), to.stallMs);
      const device = deviceIds.parse(deviceId);
      if (isSent(reply) && device !== null)
        to.access.record({ type: 'BACKUP_DOWNLOADED', ...accessOf(context), device, detail: { backupId } });
      return sent;
    },
  },
});

/** Proofs of keys, trust and the policy; receipts that keys sign. */
const proofOperations = (to: RegistryServices): Bindings => ({
  createProofChallenge: ({ context }) => to.proofs.challenge(context),
  judgeProofsAgain: ({ context, body }) => to.proofs.judgeAgain(context, body.after ?? 0),
  submitProof: ({ context, params, body }) => to.proofs.submit(context, params.proofId, body),
  importTrust: {
    stage: (_, { content, maxBytes }) => to.trust.stage(content, maxBytes),
    add: ({ context }, { form, blob }) => to.trust.importFile(context, form, blob as TrustFile),
  },
  listTrust: () => to.trust.list(),
  removeTrust: ({ context, params }) => to.trust.remove(context, params.fingerprint),
  showProofPolicy: () => to.policies.show(),
  setProofPolicy: ({ context, body }) => to.policies.set(context, body),
  createReceipt: ({ context, body }) => to.receipts.create(context, body),
  submitReceipt: ({ context, params, body }) => to.receipts.submit(context, params.receiptId, body),
  listReceipts: ({ query }) => to.receipts.list(query),
  getReceipt: ({ params }) => to.receipts.show(params.receiptId),
});

const webhookOperations = (to: RegistryServices): Bindings => ({
  createWebhook: ({ context, body }) => to.webhooks.create(context, body),
  listWebhooks: () => to.webhooks.list(),
  testWebhook: ({ params }) => to.webhooks.test(params.webhookId),
  disableWebhook: ({ context, params }) => to.webhooks.disable(context, params.webhookId),
  enableWebhook: ({ context, params }) => to.webhooks.enable(context, params.webhookId),
  removeWebhook: ({ context, params }) => to.webhooks.remove(context, params.webhookId),
  webhookDeliveries: ({ params }) => to.webhooks.deliveries(params.webhookId),
  replayWebhookDelivery: ({ params }) => to.webhooks.replay(params.webhookId, params.deliveryId),
});
