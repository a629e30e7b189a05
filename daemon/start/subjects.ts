/** What a registry has, subject by subject. Rows of a subject refer to those of earlier ones only. */
import { accounts } from '../accounts/index.ts';
import { devices } from '../devices/index.ts';
import { files } from '../files/index.ts';
import { issuing } from '../issuing/index.ts';
import { people } from '../people/index.ts';
import { proofs } from '../proofs/index.ts';
import { receipts } from '../receipts/index.ts';
import { signIn } from '../sign-in/index.ts';
import { singleSignOn } from '../single-sign-on/index.ts';
import { Subjects } from '../store/subjects.ts';
import { webhooks } from '../webhooks/index.ts';

export const subjects = new Subjects([
  accounts,
  devices,
  files,
  signIn,
  singleSignOn,
  people,
  issuing,
  receipts,
  proofs,
  webhooks,
]);
