/** Every operation of the interface, by name. */
import * as apps from './apps.ts';
import * as auth from './auth.ts';
import * as backups from './backups.ts';
import type { RouteShape } from './define.ts';
import { batchUpdate } from './device-batch.ts';
import * as devices from './devices.ts';
import type { RouteName } from './endpoints.ts';
import * as hardware from './hardware.ts';
import * as proofs from './proofs.ts';
import * as signInCodes from './sign-in-codes.ts';
import * as signIn from './sign-in-policy.ts';
import { statistics } from './statistics.ts';
import * as system from './system.ts';
import * as terminals from './terminal-logins.ts';
import * as tokens from './tokens.ts';
import * as trust from './trust.ts';
import * as users from './users.ts';
import * as webauthn from './webauthn.ts';
import * as webhooks from './webhooks.ts';

/** Every operation of the interface. The server, the typed client and the documents are derived from this table. */
export const routes = {
  login: auth.login,
  refresh: auth.refresh,
  createCode: signInCodes.createCode,
  exchangeCode: signInCodes.exchangeCode,
  webauthnOptions: webauthn.webauthnOptions,
  webauthnLogin: webauthn.webauthnLogin,
  passkeyOptions: webauthn.passkeyOptions,
  registerPasskey: webauthn.registerPasskey,
  createTerminalLogin: terminals.createTerminalLogin,
  showTerminalLogin: terminals.showTerminalLogin,
  approveTerminalLogin: terminals.approveTerminalLogin,
  takeTerminalLogin: terminals.takeTerminalLogin,
  stepUpOptions: webauthn.stepUpOptions,
  stepUp: webauthn.stepUp,
  register: devices.registerDevice,
  batchRegister: devices.batchRegister,
  batchUpdate,
  activate: devices.activate,
  lock: devices.lock,
  unlock: devices.unlock,
  deactivate: devices.deactivate,
  listDevices: devices.listDevices,
  exportDevices: devices.exportDevices,
  deviceDetail: devices.deviceDetail,
  updateDevice: devices.updateDevice,
  generateActivationCode: devices.generateActivationCode,
  recordUsage: devices.recordUsage,
  uploadApp: apps.uploadApp,
  listApps: apps.listApps,
  latestApp: apps.latestApp,
  showApp: apps.showApp,
  downloadApp: apps.downloadApp,
  createBackup: backups.createBackup,
  listBackups: backups.listBackups,
  downloadBackup: backups.downloadBackup,
  restoreBackup: backups.restoreBackup,
  createUser: users.createUser,
  listUsers: users.listUsers,
  me: users.me,
  updateUser: users.updateUser,
  setPassword: users.setPassword,
  logoutUser: users.logoutUser,
  listPasskeys: webauthn.listPasskeys,
  removePasskey: webauthn.removePasskey,
  requireKey: webauthn.requireKey,
  createToken: tokens.createToken,
  listTokens: tokens.listTokens,
  revokeToken: tokens.revokeToken,
  createChallenge: proofs.createChallenge,
  judgeAgain: proofs.judgeAgain,
  submitProof: proofs.submitProof,
  importTrust: trust.importTrust,
  listTrust: trust.listTrust,
  removeTrust: trust.removeTrust,
  proofPolicy: trust.showProofPolicy,
  setProofPolicy: trust.setProofPolicy,
  signInPolicy: signIn.showSignInPolicy,
  setSignInPolicy: signIn.setSignInPolicy,
  createWebhook: webhooks.createWebhook,
  listWebhooks: webhooks.listWebhooks,
  testWebhook: webhooks.testWebhook,
  disableWebhook: webhooks.disableWebhook,
  enableWebhook: webhooks.enableWebhook,
  removeWebhook: webhooks.removeWebhook,
  webhookDeliveries: webhooks.webhookDeliveries,
  listKeys: hardware.listKeys,
  proveKey: hardware.proveKey,
  statistics,
  events: system.listEvents,
  notifications: system.notifications,
  health: system.health,
  swaggerPage: system.swaggerPage,
  openapiJson: system.openapiJson,
  openapiYaml: system.openapiYaml,
  postmanCollection: system.postmanCollection,
  metrics: system.metrics,
} as const satisfies Record<RouteName, RouteShape>;

/** The types of all operations, by name. */
export type Routes = typeof routes;
