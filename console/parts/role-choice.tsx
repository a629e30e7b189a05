/** The choice of a role, with what the role allows. */
import type { Signal } from '@preact/signals';
import { type Role, roles } from '../../src/contract/values.ts';
import { labels } from '../text/text.ts';
import { roles as roleWords, text } from '../text/words.ts';
import { Choice } from './inputs.tsx';

interface RoleChoiceProps {
  readonly role: Signal<Role>;
  /** Why the role cannot be changed. */
  readonly fixedBecause?: string | undefined;
}

/** A list of the roles. */
export const RoleChoice = ({ role, fixedBecause }: RoleChoiceProps) => (
  <Choice
    label={text.column.role}
    entry={role}
    values={roles}
    words={labels(text.role)}
    hint={fixedBecause ?? roleWords[role.value]}
    disabled={fixedBecause !== undefined}
  />
);
