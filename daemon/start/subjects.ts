/** Subjects of a registry. Rows of a subject refer to those of earlier ones only. */
import { accounts } from '../accounts/index.ts';
import { devices } from '../devices/index.ts';
import { files } from '../files/index.ts';
import { identity } from '../identity/index.ts';
import { issuing } from '../issuing/index.ts';
import { people } from '../people/index.ts';
import { proofs } from '../proofs/index.ts';
import { receipts } from '../receipts/index.ts';
import { signIn } from '../sign-in/index.ts';
import { singleSignOn } from '../single-sign-on/index.ts';
import type { SubjectChanges, SubjectGuards } from '../store/commit.ts';
import { Subjects } from '../store/subjects.ts';
import { webhooks } from '../webhooks/index.ts';

// biome-ignore format: a subject is left out with its line
const stated = [
  accounts,
  devices,
  files,
  signIn,
  singleSignOn,
  issuing,
  people,
  receipts,
  identity,
  proofs,
  webhooks,
] as const;

type Kinds<P extends 'changes' | 'guards'> = (typeof stated)[number] extends infer S
  ? S extends { readonly [K in P]: infer R }
    ? keyof R
    : never
  : never;
type Missing =
  | Exclude<SubjectChanges[keyof SubjectChanges]['kind'], Kinds<'changes'>>
  | Exclude<SubjectGuards[keyof SubjectGuards]['kind'], Kinds<'guards'>>;

/** The type checker names a kind that no subject states. */
export const subjects: [Missing] extends [never] ? Subjects : Missing = new Subjects(stated);
