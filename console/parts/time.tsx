/** Moments of the registry as local time. */
import { day, moment } from '../text/numbers.ts';
import { text } from '../text/text.ts';

/** A time to the second. */
export const Moment = ({ at }: { readonly at: string }) => <time dateTime={at}>{moment(at)}</time>;

/** The date of a time, which shows the time to the second under the pointer. Null is never. */
export const Day = ({ at }: { readonly at: string | null }) =>
  at ? (
    <time dateTime={at} title={moment(at)}>
      {day(at)}
    </time>
  ) : (
    <small>{text.value.common.never}</small>
  );
