/** Binds each operation of the contract to the service that carries it out. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, Code } from '../../../src/contract/codes.ts';
import type { DataOf } from '../../../src/contract/define.ts';
import { exportTypes } from '../../../src/contract/devices.ts';
import type { DriverStatus } from '../../../src/contract/hardware.ts';
import { deviceIds } from '../../../src/contract/ids.ts';
import { connectionEnd } from '../../../src/contract/local.ts';
import { routes } from '../../../src/contract/routes.ts';
import { exportFormats } from '../../../src/contract/values.ts';
import type { KeySource } from '../../hardware/attached-keys.ts';
import type { Instance, Proof } from '../../home/instance.ts';
import { clientOf } from '../../loopback.ts';
import { type AccessJournal, accessOf } from '../../services/access-journal.ts';
import type { AppService } from '../../services/apps.ts';
import type { BackupService } from '../../services/backups.ts';
import type { DeviceExport } from '../../services/device-export.ts';
import { type DeviceService, filterOf } from '../../services/devices.ts';
import type { EventService } from '../../services/events.ts';
import { RateLimited } from '../../services/limiter.ts';
import * as present from '../../services/present.ts';
import type { ProofPolicies } from '../../services/proofs/policies.ts';
import type { ProofService } from '../../services/proofs/proof-service.ts';
import type { TrustFile, TrustService } from '../../services/proofs/trust-service.ts';
import type { Readiness } from '../../services/readiness.ts';
import type { SignInCodes } from '../../services/sign-in-codes.ts';
import type { TokenService } from '../../services/token-service.ts';
import type { UserService } from '../../services/users.ts';
import type { WebhookService } from '../../services/webhooks.ts';
import { exportContent, sendDownload } from '../download.ts';
import { type FormParts, formOperation } from '../form-operation.ts';
import { bearer, type Call, type OperationParts, operation, rawOperation } from '../operation.ts';
import { checkSameOrigin } from '../origin.ts';
import { JSON_TYPE, RETRY_AFTER } from '../responses.ts';

/** Users. */
export function userRoutes(app: FastifyInstance, parts: OperationParts & { readonly users: UserService }): void {
  const { users } = parts;
  operation(app, parts, routes.createUser, ({ context, body }) => users.create(context, body));
  operation(app, parts, routes.listUsers, ({ query }) => users.list(query));
  operation(app, parts, routes.getOwnUser, async ({ context }) => {
    const me = present.me(context.caller);
    if (!me) throw new ApiError(Code.noPermission);
    return me;
  });
  operation(app, parts, routes.updateUser, ({ context, params, body }) => users.update(context, params.userId, body));
  operation(app, parts, routes.setPassword, ({ context, params, body }) =>
    users.setPassword(context, params.userId, body),
  );
  operation(app, parts, routes.logoutUser, ({ context, params }) => users.logout(context, params.userId));
}

/** Single-use codes. */
export function signInCodeRoutes(
  app: FastifyInstance,
  parts: OperationParts & { readonly signInCodes: SignInCodes },
): void {
  const { signInCodes } = parts;
  operation(app, parts, routes.createSignInCode, ({ context, body, request }) =>
    signInCodes.create(context.caller, bearer(request), body),
  );
  operation(app, parts, routes.exchangeSignInCode, ({ context, body, request }) => {
    checkSameOrigin(request.raw);
    return signInCodes.exchange(body, context);
  });
}

/** Service tokens. */
export function tokenRoutes(
  app: FastifyInstance,
  parts: OperationParts & { readonly serviceTokens: TokenService },
): void {
  const { serviceTokens } = parts;
  operation(app, parts, routes.createToken, ({ context, body }) => serviceTokens.create(context, body));
  operation(app, parts, routes.listTokens, ({ query }) => serviceTokens.list(query));
  operation(app, parts, routes.revokeToken, ({ context, params }) => serviceTokens.revoke(context, params.tokenId));
}

/** Proofs of keys, trust and the policy. */
export function proofRoutes(
  app: FastifyInstance,
  parts: FormParts & {
    readonly proofs: ProofService;
    readonly trust: TrustService;
    readonly policies: ProofPolicies;
  },
): void {
  const { proofs, trust, policies } = parts;
  operation(app, parts, routes.createProofChallenge, ({ context }) => proofs.challenge(context));
  operation(app, parts, routes.judgeProofsAgain, ({ context, body }) => proofs.judgeAgain(context, body.after ?? 0));
  operation(app, parts, routes.submitProof, ({ context, params, body }) =>
    proofs.submit(context, params.proofId, body),
  );
  formOperation(app, parts, routes.importTrust, {
    stage: (_, { content, maxBytes }) => trust.stage(content, maxBytes),
    add: ({ context }, { form, blob }) => trust.importFile(context, form, blob as TrustFile),
  });
  operation(app, parts, routes.listTrust, () => trust.list());
  operation(app, parts, routes.removeTrust, ({ context, params }) => trust.remove(context, params.fingerprint));
  operation(app, parts, routes.showProofPolicy, () => policies.show());
  operation(app, parts, routes.setProofPolicy, ({ context, body }) => policies.set(context, body));
}

/** Webhooks. */
export function webhookRoutes(
  app: FastifyInstance,
  parts: OperationParts & { readonly webhooks: WebhookService },
): void {
  const { webhooks } = parts;
  operation(app, parts, routes.createWebhook, ({ context, body }) => webhooks.create(context, body));
  operation(app, parts, routes.listWebhooks, () => webhooks.list());
  operation(app, parts, routes.testWebhook, ({ params }) => webhooks.test(params.webhookId));
  operation(app, parts, routes.disableWebhook, ({ context, params }) => webhooks.disable(context, params.webhookId));
  operation(app, parts, routes.enableWebhook, ({ context, params }) => webhooks.enable(context, params.webhookId));
  operation(app, parts, routes.removeWebhook, ({ context, params }) => webhooks.remove(context, params.webhookId));
  operation(app, parts, routes.webhookDeliveries, ({ params }) => webhooks.deliveries(params.webhookId));
}

/** What the operations on devices work with. */
interface DeviceRouteParts extends OperationParts {
  readonly devices: DeviceService;
  readonly exports: DeviceExport;
  /** Replaces `stallSeconds`. */
  readonly stallMs?: number;
  readonly statistics: () => Promise<DataOf<typeof routes.getStatistics>>;
}

const batchMessage = ({ failed }: { readonly failed: number }): string =>
  failed === 0 ? 'success' : 'batch completed with partial failure';

/** Devices, from registration to deactivation. */
export function deviceRoutes(app: FastifyInstance, parts: DeviceRouteParts): void {
  const { devices } = parts;
  operation(app, parts, routes.registerDevice, ({ context, body }) => devices.register(context, body));
  operation(
    app,
    parts,
    routes.batchRegisterDevices,
    ({ context, body }) => devices.batchRegister(context, body.devices),
    batchMessage,
  );
  const batchUpdate = ({ context, body }: Call<typeof routes.batchUpdateDevices>) => {
    if (body.operation === 'DEACTIVATE') parts.stepUp?.check(context.caller);
    return devices.batchUpdate(context, body);
  };
  operation(app, parts, routes.batchUpdateDevices, batchUpdate, batchMessage);
  operation(app, parts, routes.activateDevice, ({ context, body }) => devices.activate(context, body));
  operation(app, parts, routes.lockDevice, ({ context, params, body }) => devices.lock(context, params.deviceId, body));
  operation(app, parts, routes.unlockDevice, ({ context, params, body }) =>
    devices.unlock(context, params.deviceId, body),
  );
  operation(app, parts, routes.deactivateDevice, ({ context, params, body }) =>
    devices.deactivate(context, params.deviceId, body),
  );
  operation(app, parts, routes.listDevices, ({ context, query }) => devices.list(context, query));
  rawOperation(app, parts, routes.exportDevices, async ({ context, query, request, reply }) => {
    const format = query.format ?? exportFormats[0];
    const started = await parts.exports.start(context.caller, format, filterOf(query));
    reply.header('content-type', format === 'csv' ? `${exportTypes.csv}; charset=utf-8` : exportTypes.ndjson);
    reply.header('content-disposition', `attachment; filename="devices.${format}"`);
    return reply.send(exportContent(started, request, reply, parts.stallMs));
  });
  operation(app, parts, routes.getStatistics, () => parts.statistics());
  operation(app, parts, routes.getDevice, ({ context, params }) => devices.detail(context, params.deviceId));
  operation(app, parts, routes.updateDevice, ({ context, params, body, request }) =>
    devices.update(context, params.deviceId, body, (request.body ?? {}) as Record<string, unknown>),
  );
  operation(app, parts, routes.generateActivationCode, ({ context, body }) => devices.generateCode(context, body));
  operation(app, parts, routes.recordUsage, ({ context, params, body }) =>
    devices.recordUsage(context, params.deviceId, body.durationSeconds),
  );
}

interface DownloadParts {
  /** Absent if downloads need no entries. */
  readonly access?: AccessJournal;
  /** Replaces `stallSeconds`. */
  readonly stallMs?: number;
}

/** Whether a download has content: the client may have the file already, or have asked for a part that does not exist. */
const isSent = ({ statusCode }: FastifyReply): boolean => statusCode === 200 || statusCode === 206;

/** Application versions. `formTimes` replaces the timeouts of an upload. */
export function appRoutes(
  app: FastifyInstance,
  parts: FormParts & DownloadParts & { readonly apps: AppService },
): void {
  const { apps, access, stallMs } = parts;
  formOperation(app, parts, routes.uploadAppVersion, {
    early: async (form, fileName) => void (await apps.judge(form, fileName)),
    stage: ({ context }, file) => apps.stage({ context, ...file }),
    add: ({ context }, { form, ...file }) => apps.upload(context, form, file),
  });
  operation(app, parts, routes.listAppVersions, ({ query }) => apps.list(query));
  operation(app, parts, routes.getLatestAppVersion, ({ query }) => apps.latest(query));
  operation(app, parts, routes.getAppVersion, ({ params }) => apps.show(params.versionId));
  rawOperation(app, parts, routes.downloadAppVersion, async ({ context, params, request, reply }) => {
    const { versionId } = params;
    const sent = await sendDownload(request, reply, await apps.download(versionId), stallMs);
    if (isSent(reply)) access?.record({ type: 'PACKAGE_DOWNLOADED', ...accessOf(context), detail: { versionId } });
    return sent;
  });
}

/** Backups of devices. */
export function backupRoutes(
  app: FastifyInstance,
  parts: FormParts & DownloadParts & { readonly backups: BackupService },
): void {
  const { backups, access, stallMs } = parts;
  formOperation(app, parts, routes.createBackup, {
    before: ({ params }) => backups.judge(params.deviceId),
    stage: ({ context }, file) => backups.stage({ context, ...file }),
    add: ({ context, params }, { form, ...file }) => backups.create(context, params.deviceId, form, file),
  });
  operation(app, parts, routes.listBackups, ({ params, query }) => backups.list(params.deviceId, query));
  operation(app, parts, routes.restoreBackup, ({ context, params }) =>
    backups.restore(context, params.deviceId, params.backupId),
  );
  rawOperation(app, parts, routes.downloadBackup, async ({ context, params, request, reply }) => {
    const { deviceId, backupId } = params;
    const sent = await sendDownload(request, reply, await backups.download(deviceId, backupId), stallMs);
    const device = deviceIds.parse(deviceId);
    if (isSent(reply) && device !== null)
      access?.record({ type: 'BACKUP_DOWNLOADED', ...accessOf(context), device, detail: { backupId } });
    return sent;
  });
}

/** Past events. */
export function eventRoutes(app: FastifyInstance, parts: OperationParts & { readonly events: EventService }): void {
  operation(app, parts, routes.listEvents, ({ query }) => parts.events.list(query));
}

/** The keys that are attached to this machine. */
export function hardwareRoutes(app: FastifyInstance, parts: OperationParts & { readonly keys: KeySource }): void {
  const { keys } = parts;
  operation(app, parts, routes.listKeys, async () => ({ list: await keys.list(), drivers: keys.driverStatuses() }));
  operation(app, parts, routes.proveKey, ({ params, body, reply }) =>
    keys.prove(params.keyId, body, untilClosed(reply)),
  );
}

/** Aborted when the client closes the connection before it has the response. */
function untilClosed(reply: FastifyReply): AbortSignal {
  const closed = new AbortController();
  reply.raw.once('close', () => closed.abort());
  return closed.signal;
}

/** What health is reported from. */
interface HealthParts extends OperationParts {
  readonly readiness: Pick<Readiness, 'report'>;
  /** Version of the program. */
  readonly version: string;
  readonly drivers: () => readonly DriverStatus[];
  readonly instance: Instance;
}

/** Health. Its uptime counts from this call. */
export function systemRoutes(app: FastifyInstance, parts: HealthParts): void {
  const startedAt = performance.now();
  rawOperation(app, parts, routes.getHealth, async ({ query, request, reply }) => {
    const proof = query.nonce === undefined ? {} : { identity: proveIdentity(parts, query.nonce, request) };
    const { ready, reason, store } = await parts.readiness.report();
    const data: DataOf<typeof routes.getHealth> = {
      status: ready ? 'ok' : 'degraded',
      service: 'devmgr',
      version: parts.version,
      ready,
      reason,
      node: app.node,
      idempotencyKeys: true,
      store: { state: store.ready ? 'ready' : 'unavailable', detail: store.detail },
      drivers: [...parts.drivers()],
      uptimeSeconds: Math.floor((performance.now() - startedAt) / 1000),
      ...proof,
    };
    reply.header('content-type', JSON_TYPE);
    if (reason === null) return JSON.stringify({ code: 200, message: 'success', data });
    // A client that asks who answers, or whether it accepts keys, still needs to know.
    reply.code(503).header('retry-after', String(RETRY_AFTER));
    return JSON.stringify({ code: 500, message: reason, data });
  });
}

/** Needs no token, so that signatures are bounded by the client address. */
function proveIdentity({ limiter, instance }: HealthParts, nonce: string, { ip, socket }: FastifyRequest): Proof {
  const allowance = limiter.countHere('query', `identity of ${clientOf(ip)}`);
  if (allowance && !allowance.allowed) throw new RateLimited(allowance);
  return instance.prove(nonce, connectionEnd(socket.localAddress, socket.localPort));
}
