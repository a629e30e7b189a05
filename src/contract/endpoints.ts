/**
 * What a client knows about each operation without its schemas. Imports nothing: the command line reads it at every start. The
 * files of the resources describe the operations under the same names.
 */

/** What a client knows about an operation without its schemas. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** With `{name}` for each path parameter. */
  readonly path: string;
  /** Present if no token is needed, wherever the request comes from. */
  readonly access?: 'public';
  /** Present if the response is a credential or concerns one: it is never stored, so an Idempotency-Key is ignored. */
  readonly neverReplayed?: true;
  /** What `data` of a success has at least, or nothing can be shown. `list.id` is a field of each item of `list`. */
  readonly returns?: readonly string[];
}

/** The operations; each name is the `operationId` in the OpenAPI document. The documents have them in this order. */
export const endpoints = {
  login: {
    method: 'POST',
    path: '/api/auth/login',
    access: 'public',
    neverReplayed: true,
    returns: ['token', 'expireTime', 'user'],
  },
  refreshToken: { method: 'POST', path: '/api/auth/refresh', neverReplayed: true, returns: ['token'] },
  createSignInCode: { method: 'POST', path: '/api/auth/codes', neverReplayed: true, returns: ['code', 'expireTime'] },
  exchangeSignInCode: {
    method: 'POST',
    path: '/api/auth/exchange',
    access: 'public',
    neverReplayed: true,
    returns: ['token', 'expireTime', 'user'],
  },
  getSignInOptions: { method: 'POST', path: '/api/auth/webauthn/options', access: 'public', neverReplayed: true },
  signInWithKey: {
    method: 'POST',
    path: '/api/auth/webauthn/login',
    access: 'public',
    neverReplayed: true,
    returns: ['token', 'expireTime', 'user'],
  },
  getKeyRegistrationOptions: { method: 'POST', path: '/api/auth/webauthn/register/options', neverReplayed: true },
  registerKey: { method: 'POST', path: '/api/auth/webauthn/register', neverReplayed: true },
  createTerminalLogin: {
    method: 'POST',
    path: '/api/auth/terminal',
    access: 'public',
    neverReplayed: true,
    returns: ['requestId', 'userCode', 'secret', 'expireTime'],
  },
  showTerminalLogin: { method: 'POST', path: '/api/auth/terminal/show', neverReplayed: true },
  approveTerminalLogin: { method: 'POST', path: '/api/auth/terminal/approve', neverReplayed: true },
  takeTerminalLogin: {
    method: 'POST',
    path: '/api/auth/terminal/token',
    access: 'public',
    neverReplayed: true,
    returns: ['state'],
  },
  getStepUpOptions: { method: 'POST', path: '/api/auth/step-up/options', neverReplayed: true },
  stepUp: { method: 'POST', path: '/api/auth/step-up', neverReplayed: true, returns: ['token'] },
  registerDevice: { method: 'POST', path: '/api/devices/register', returns: ['deviceId', 'activationCode'] },
  batchRegisterDevices: { method: 'POST', path: '/api/devices/batch-register', returns: ['results'] },
  batchUpdateDevices: { method: 'POST', path: '/api/devices/batch-update', returns: ['results'] },
  activateDevice: { method: 'POST', path: '/api/devices/activate', returns: ['deviceId', 'status'] },
  lockDevice: { method: 'POST', path: '/api/devices/{deviceId}/lock', returns: ['deviceId', 'status'] },
  unlockDevice: { method: 'POST', path: '/api/devices/{deviceId}/unlock', returns: ['deviceId', 'status'] },
  deactivateDevice: { method: 'POST', path: '/api/devices/{deviceId}/deactivate', returns: ['deviceId', 'status'] },
  listDevices: {
    method: 'GET',
    path: '/api/devices/list',
    returns: ['list', 'pagination', 'list.deviceId', 'list.serialNumber'],
  },
  exportDevices: { method: 'GET', path: '/api/devices/export' },
  getDevice: { method: 'GET', path: '/api/devices/{deviceId}', returns: ['deviceId', 'serialNumber', 'status'] },
  updateDevice: { method: 'PUT', path: '/api/devices/{deviceId}', returns: ['deviceId'] },
  generateActivationCode: {
    method: 'POST',
    path: '/api/devices/generate-activation-code',
    returns: ['deviceId', 'activationCode'],
  },
  recordUsage: { method: 'POST', path: '/api/devices/{deviceId}/usage', returns: ['deviceId'] },
  uploadAppVersion: { method: 'POST', path: '/api/app-versions/upload', returns: ['versionId', 'sha256'] },
  listAppVersions: { method: 'GET', path: '/api/app-versions/list', returns: ['list', 'pagination', 'list.versionId'] },
  getLatestAppVersion: { method: 'GET', path: '/api/app-versions/latest', returns: ['latest'] },
  getAppVersion: { method: 'GET', path: '/api/app-versions/{versionId}', returns: ['versionId', 'sha256', 'fileName'] },
  downloadAppVersion: { method: 'GET', path: '/api/app-versions/{versionId}/download' },
  createBackup: { method: 'POST', path: '/api/devices/{deviceId}/backups', returns: ['backupId'] },
  listBackups: {
    method: 'GET',
    path: '/api/devices/{deviceId}/backups/list',
    returns: ['list', 'pagination', 'list.backupId'],
  },
  downloadBackup: { method: 'GET', path: '/api/devices/{deviceId}/backups/{backupId}/download' },
  restoreBackup: { method: 'POST', path: '/api/devices/{deviceId}/backups/{backupId}/restore', returns: ['backupId'] },
  createUser: { method: 'POST', path: '/api/users', returns: ['id', 'username'] },
  listUsers: { method: 'GET', path: '/api/users/list', returns: ['list', 'pagination', 'list.id', 'list.username'] },
  getOwnUser: { method: 'GET', path: '/api/users/me', returns: ['id', 'username', 'role'] },
  updateUser: { method: 'PUT', path: '/api/users/{userId}', returns: ['id', 'username'] },
  setPassword: { method: 'POST', path: '/api/users/{userId}/password', returns: ['id', 'username'] },
  logoutUser: { method: 'POST', path: '/api/users/{userId}/logout', returns: ['id', 'username'] },
  listKeysOfUser: { method: 'GET', path: '/api/users/{userId}/passkeys/list' },
  removeKeyOfUser: { method: 'POST', path: '/api/users/{userId}/passkeys/{passkeyId}/remove', neverReplayed: true },
  requireKeyOfUser: { method: 'POST', path: '/api/users/{userId}/require-key', neverReplayed: true },
  createToken: { method: 'POST', path: '/api/tokens', neverReplayed: true, returns: ['tokenId', 'token', 'expiresAt'] },
  listTokens: { method: 'GET', path: '/api/tokens/list', returns: ['list', 'pagination', 'list.tokenId', 'list.name'] },
  revokeToken: {
    method: 'POST',
    path: '/api/tokens/{tokenId}/revoke',
    neverReplayed: true,
    returns: ['tokenId', 'name'],
  },
  createProofChallenge: {
    method: 'POST',
    path: '/api/proofs/challenge',
    returns: ['proofId', 'challenge', 'registryId', 'ephemeralPublicKey'],
  },
  judgeProofsAgain: { method: 'POST', path: '/api/proofs/judge-again', returns: ['judged', 'changed', 'next'] },
  submitProof: { method: 'POST', path: '/api/proofs/{proofId}', returns: ['proof'] },
  importTrust: { method: 'POST', path: '/api/trust', returns: ['metadata', 'certificates', 'warnings'] },
  listTrust: { method: 'GET', path: '/api/trust/list', returns: ['metadata', 'certificates'] },
  removeTrust: { method: 'POST', path: '/api/trust/{fingerprint}/remove', returns: ['fingerprint'] },
  showProofPolicy: {
    method: 'GET',
    path: '/api/policies/proof',
    returns: ['requiredGrade', 'allowedAaguids', 'leastFirmware'],
  },
  setProofPolicy: {
    method: 'PUT',
    path: '/api/policies/proof',
    returns: ['requiredGrade', 'allowedAaguids', 'leastFirmware'],
  },
  showSignInPolicy: { method: 'GET', path: '/api/policies/sign-in' },
  setSignInPolicy: { method: 'PUT', path: '/api/policies/sign-in' },
  createWebhook: {
    method: 'POST',
    path: '/api/webhooks',
    neverReplayed: true,
    returns: ['webhookId', 'url', 'secret'],
  },
  listWebhooks: { method: 'GET', path: '/api/webhooks/list', returns: ['list', 'list.webhookId', 'list.url'] },
  testWebhook: {
    method: 'POST',
    path: '/api/webhooks/{webhookId}/test',
    neverReplayed: true,
    returns: ['webhookId', 'delivered'],
  },
  disableWebhook: { method: 'POST', path: '/api/webhooks/{webhookId}/disable', returns: ['webhookId', 'url'] },
  enableWebhook: { method: 'POST', path: '/api/webhooks/{webhookId}/enable', returns: ['webhookId', 'url'] },
  removeWebhook: { method: 'POST', path: '/api/webhooks/{webhookId}/remove', returns: ['webhookId'] },
  webhookDeliveries: {
    method: 'GET',
    path: '/api/webhooks/{webhookId}/deliveries',
    returns: ['list', 'list.eventId', 'list.at'],
  },
  listKeys: {
    method: 'GET',
    path: '/api/hardware/keys',
    returns: ['list', 'drivers', 'list.keyId', 'list.serialNumber'],
  },
  proveKey: {
    method: 'POST',
    path: '/api/hardware/keys/{keyId}/prove',
    neverReplayed: true,
    returns: ['claims', 'problem'],
  },
  getStatistics: {
    method: 'GET',
    path: '/api/statistics',
    returns: ['total', 'byStatus', 'byType', 'byManufacturer', 'registrations'],
  },
  listEvents: { method: 'GET', path: '/api/events', returns: ['list', 'head', 'list.type', 'list.data'] },
  streamNotifications: { method: 'GET', path: '/api/ws/notifications' },
  getHealth: { method: 'GET', path: '/api/health', access: 'public', returns: ['service', 'version'] },
  getSwaggerPage: { method: 'GET', path: '/api/swagger-ui.html', access: 'public' },
  getOpenapiJson: { method: 'GET', path: '/api/openapi.json', access: 'public' },
  getOpenapiYaml: { method: 'GET', path: '/api/openapi.yaml', access: 'public' },
  getPostmanCollection: { method: 'GET', path: '/api/postman.json', access: 'public' },
  getMetrics: { method: 'GET', path: '/metrics' },
} as const satisfies Record<string, Endpoint>;

/** Name of an operation: its `operationId`. */
export type RouteName = keyof typeof endpoints;
