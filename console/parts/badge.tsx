/** Words with a color of their own. The color reports nothing that the word does not. */

import type { ProofGrade } from '../../src/contract/key-values.ts';
import type { DeviceStatus } from '../../src/contract/values.ts';
import { text } from '../text/words.ts';

/** The state of a device. */
export const StatusBadge = ({ status }: { readonly status: DeviceStatus }) => (
  <span class={`badge ${status}`}>{text.status[status]}</span>
);

const colors: Readonly<Record<ProofGrade, string>> = {
  none: '',
  claimed: '',
  model: 'good',
  unit: 'good',
  failed: 'bad',
};

/** The grade of a proof. */
export const GradeBadge = ({ grade }: { readonly grade: ProofGrade }) => (
  <span class={`badge ${colors[grade]}`}>{text.grade[grade]}</span>
);
