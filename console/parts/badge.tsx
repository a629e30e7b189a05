/** Words with a color of their own. The color says nothing that the word does not. */
import type { DeviceStatus } from '../../src/contract/values.ts';
import { text } from '../text/text.ts';

/** The state of a device. */
export const StatusBadge = ({ status }: { readonly status: DeviceStatus }) => (
  <span class={`badge ${status}`}>{text.value.status[status]}</span>
);
