/** The subjects of a daemon with a registry, in the order in which they start: each finds what earlier ones offer. */
import { startAccounts } from '../accounts/start.ts';
import { startConsole } from '../console/start.ts';
import { startDecisions } from '../decisions/start.ts';
import { startDevices } from '../devices/start.ts';
import { startDirectory } from '../directory/start.ts';
import { startFiles } from '../files/start.ts';
import { startForwarding } from '../forwarding/start.ts';
import { startHolders } from '../holders/start.ts';
import type { StartSubject } from '../http/subject.ts';
import { startIdentity } from '../identity/start.ts';
import { startIssuing } from '../issuing/start.ts';
import { startEvents } from '../notifications/start.ts';
import { startPeople } from '../people/start.ts';
import { startProofs } from '../proofs/start.ts';
import { startReceipts } from '../receipts/start.ts';
import { startScim } from '../scim/start.ts';
import { startSignIn } from '../sign-in/start.ts';
import { startSingleSignOn } from '../single-sign-on/start.ts';
import { startWebhooks } from '../webhooks/start.ts';

export const services: readonly StartSubject[] = [
  startAccounts,
  startSignIn,
  startSingleSignOn,
  startEvents,
  startPeople,
  startProofs,
  startIdentity,
  startDevices,
  startFiles,
  startReceipts,
  startScim,
  startDirectory,
  startIssuing,
  startDecisions,
  startHolders,
  startWebhooks,
  startForwarding,
  startConsole,
];
