/** The choice of a role, with what the role allows. */
import type { Signal } from '@preact/signals';
import { type Role, roles } from '../../src/contract/values.ts';
import { dictionary } from '../text/text.ts';
import { Choice } from './inputs.tsx';

const roleWords = dictionary('roles');

interface RoleChoiceProps {
  readonly label: string;
  readonly role: Signal<Role>;
  /** Why the role cannot be changed. */
  readonly fixedBecause?: string | undefined;
}

/** A list of the roles. */
export const RoleChoice = ({ label, role, fixedBecause }: RoleChoiceProps) => (
  <Choice
    label={label}
    value={role.value}
    values={roles}
    words={roleWords.value.name}
    hint={fixedBecause ?? roleWords.value.may[role.value]}
    disabled={fixedBecause !== undefined}
    onChoose={chosen => {
      role.value = chosen;
    }}
  />
);
