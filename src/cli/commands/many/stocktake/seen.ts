/** The tag of devices that were seen. */
import { sizes } from '../../../../contract/limits.ts';
import { counted } from '../../../count.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { safe } from '../../../terminal/text.ts';

/** Failures that are named. */
const mostNamed = 5;

/** Sets the tag to the date of today. A device that cannot be updated, such as a LOCKED one, is named. */
export async function markSeen(context: Context, deviceIds: readonly string[], tag: string): Promise<void> {
  const { registry, out } = context;
  const date = new Date();
  const today = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(part => String(part).padStart(2, '0'));
  const tags = { [tag]: today.join('-') };
  const failures: string[] = [];
  for (let at = 0; at < deviceIds.length; at += sizes.batchUpdateItems) {
    const items = deviceIds.slice(at, at + sizes.batchUpdateItems).map(deviceId => ({ deviceId, tags }));
    const { results } = await registry.call('batchUpdateDevices', { body: { operation: 'UPDATE', items } });
    for (const { status, message } of results) if (status === 'failed') failures.push(message);
    out.progress.show('Tagging', at + items.length, deviceIds.length);
  }
  out.progress.clear();
  notify(context, `${counted(deviceIds.length - failures.length, 'device')} tagged ${tag}=${tags[tag]}.`);
  if (failures.length > 0)
    notify(
      context,
      safe(`${counted(failures.length, 'device')} could not be tagged: ${failures.slice(0, mostNamed).join('; ')}`),
    );
}
