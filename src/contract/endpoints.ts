/** Method and path of every operation. Imports nothing: the command line reads it at every start. */

interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** With `{name}` for each path parameter. */
  readonly path: string;
  /** Present if no token is needed, wherever the request comes from. */
  readonly access?: 'public';
  /** Present if the response is a credential or concerns one: it is never stored, so an Idempotency-Key is ignored. */
  readonly neverReplayed?: true;
}

/** Method and path of each operation, by name. */
export const endpoints = {
  login: { method: 'POST', path: '/api/auth/login', access: 'public', neverReplayed: true },
  refresh: { method: 'POST', path: '/api/auth/refresh', neverReplayed: true },
  createCode: { method: 'POST', path: '/api/auth/codes', neverReplayed: true },
  exchangeCode: { method: 'POST', path: '/api/auth/exchange', access: 'public', neverReplayed: true },
  webauthnOptions: { method: 'POST', path: '/api/auth/webauthn/options', access: 'public', neverReplayed: true },
  webauthnLogin: { method: 'POST', path: '/api/auth/webauthn/login', access: 'public', neverReplayed: true },
  passkeyOptions: { method: 'POST', path: '/api/auth/webauthn/register/options', neverReplayed: true },
  registerPasskey: { method: 'POST', path: '/api/auth/webauthn/register', neverReplayed: true },
  createTerminalLogin: { method: 'POST', path: '/api/auth/terminal', access: 'public', neverReplayed: true },
  showTerminalLogin: { method: 'POST', path: '/api/auth/terminal/show', neverReplayed: true },
  approveTerminalLogin: { method: 'POST', path: '/api/auth/terminal/approve', neverReplayed: true },
  takeTerminalLogin: { method: 'POST', path: '/api/auth/terminal/token', access: 'public', neverReplayed: true },
  stepUpOptions: { method: 'POST', path: '/api/auth/step-up/options', neverReplayed: true },
  stepUp: { method: 'POST', path: '/api/auth/step-up', neverReplayed: true },
  register: { method: 'POST', path: '/api/devices/register' },
  batchRegister: { method: 'POST', path: '/api/devices/batch-register' },
  batchUpdate: { method: 'POST', path: '/api/devices/batch-update' },
  activate: { method: 'POST', path: '/api/devices/activate' },
  lock: { method: 'POST', path: '/api/devices/{deviceId}/lock' },
  unlock: { method: 'POST', path: '/api/devices/{deviceId}/unlock' },
  deactivate: { method: 'POST', path: '/api/devices/{deviceId}/deactivate' },
  listDevices: { method: 'GET', path: '/api/devices/list' },
  exportDevices: { method: 'GET', path: '/api/devices/export' },
  deviceDetail: { method: 'GET', path: '/api/devices/{deviceId}' },
  updateDevice: { method: 'PUT', path: '/api/devices/{deviceId}' },
  generateActivationCode: { method: 'POST', path: '/api/devices/generate-activation-code' },
  recordUsage: { method: 'POST', path: '/api/devices/{deviceId}/usage' },
  uploadApp: { method: 'POST', path: '/api/app-versions/upload' },
  listApps: { method: 'GET', path: '/api/app-versions/list' },
  latestApp: { method: 'GET', path: '/api/app-versions/latest' },
  showApp: { method: 'GET', path: '/api/app-versions/{versionId}' },
  downloadApp: { method: 'GET', path: '/api/app-versions/{versionId}/download' },
  createBackup: { method: 'POST', path: '/api/devices/{deviceId}/backups' },
  listBackups: { method: 'GET', path: '/api/devices/{deviceId}/backups/list' },
  downloadBackup: { method: 'GET', path: '/api/devices/{deviceId}/backups/{backupId}/download' },
  restoreBackup: { method: 'POST', path: '/api/devices/{deviceId}/backups/{backupId}/restore' },
  createUser: { method: 'POST', path: '/api/users' },
  listUsers: { method: 'GET', path: '/api/users/list' },
  me: { method: 'GET', path: '/api/users/me' },
  updateUser: { method: 'PUT', path: '/api/users/{userId}' },
  setPassword: { method: 'POST', path: '/api/users/{userId}/password' },
  logoutUser: { method: 'POST', path: '/api/users/{userId}/logout' },
  listPasskeys: { method: 'GET', path: '/api/users/{userId}/passkeys/list' },
  removePasskey: { method: 'POST', path: '/api/users/{userId}/passkeys/{passkeyId}/remove', neverReplayed: true },
  requireKey: { method: 'POST', path: '/api/users/{userId}/require-key', neverReplayed: true },
  createToken: { method: 'POST', path: '/api/tokens', neverReplayed: true },
  listTokens: { method: 'GET', path: '/api/tokens/list' },
  revokeToken: { method: 'POST', path: '/api/tokens/{tokenId}/revoke', neverReplayed: true },
  createChallenge: { method: 'POST', path: '/api/proofs/challenge' },
  judgeAgain: { method: 'POST', path: '/api/proofs/judge-again' },
  submitProof: { method: 'POST', path: '/api/proofs/{proofId}' },
  importTrust: { method: 'POST', path: '/api/trust' },
  listTrust: { method: 'GET', path: '/api/trust/list' },
  removeTrust: { method: 'POST', path: '/api/trust/{fingerprint}/remove' },
  proofPolicy: { method: 'GET', path: '/api/policies/proof' },
  setProofPolicy: { method: 'PUT', path: '/api/policies/proof' },
  signInPolicy: { method: 'GET', path: '/api/policies/sign-in' },
  setSignInPolicy: { method: 'PUT', path: '/api/policies/sign-in' },
  createWebhook: { method: 'POST', path: '/api/webhooks', neverReplayed: true },
  listWebhooks: { method: 'GET', path: '/api/webhooks/list' },
  testWebhook: { method: 'POST', path: '/api/webhooks/{webhookId}/test', neverReplayed: true },
  disableWebhook: { method: 'POST', path: '/api/webhooks/{webhookId}/disable' },
  enableWebhook: { method: 'POST', path: '/api/webhooks/{webhookId}/enable' },
  removeWebhook: { method: 'POST', path: '/api/webhooks/{webhookId}/remove' },
  webhookDeliveries: { method: 'GET', path: '/api/webhooks/{webhookId}/deliveries' },
  listKeys: { method: 'GET', path: '/api/hardware/keys' },
  proveKey: { method: 'POST', path: '/api/hardware/keys/{keyId}/prove', neverReplayed: true },
  notifications: { method: 'GET', path: '/api/ws/notifications' },
  statistics: { method: 'GET', path: '/api/statistics' },
  events: { method: 'GET', path: '/api/events' },
  health: { method: 'GET', path: '/api/health', access: 'public' },
  swaggerPage: { method: 'GET', path: '/api/swagger-ui.html', access: 'public' },
  openapiJson: { method: 'GET', path: '/api/openapi.json', access: 'public' },
  openapiYaml: { method: 'GET', path: '/api/openapi.yaml', access: 'public' },
  postmanCollection: { method: 'GET', path: '/api/postman.json', access: 'public' },
  metrics: { method: 'GET', path: '/metrics' },
} as const satisfies Record<string, Endpoint>;

/** Name of an operation, as code refers to it. The `operationId` of the OpenAPI document is stated with its schemas. */
export type RouteName = keyof typeof endpoints;
