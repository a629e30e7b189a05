/** The people who get keys. */
import { textLengths } from '../../contract/limits.ts';
import { fitsUntrimmed, textFault, textLength, trimText } from '../../contract/text.ts';
import type { DeviceType } from '../../contract/values.ts';

/** A row of the roster: a person, and the keys that the person gets. */
export interface Person {
  readonly userId: string;
  /** As people read it; null if the roster has no name. */
  readonly name: string | null;
  /** Type of the keys; null accepts each type. */
  readonly type: DeviceType | null;
  /** How many keys the row is for. */
  readonly wanted: number;
  /** The number that is printed on the key, if that reports none; absent if the roster does not name it. */
  readonly printedNumber?: string;
}

/** The id of a person as the registry reads it (trimmed); null if it is empty, too long or has characters that no line may contain. */
export function readUserId(text: string): string | null {
  if (!fitsUntrimmed(text, textLengths.userId)) return null;
  const userId = trimText(text);
  const length = textLength(userId);
  return length > 0 && length <= textLengths.userId && textFault(userId, 'line') === null ? userId : null;
}
