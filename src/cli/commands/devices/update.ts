import type { TagChanges } from '../../../contract/tags.ts';
import { usage } from '../../fault.ts';
import { clearable, command, definedFields } from '../../framework/define.ts';
import { tagFlag, tagNameOf, tagsOf, tagWords } from '../../framework/devices/tags.ts';
import { pluggedFlag } from '../../framework/flags.ts';
import { present } from '../../framework/present.ts';
import { safe, safeProse } from '../../terminal/text.ts';
import { bulkDescription, bulkFlags, devicesArg } from '../many/bulk/flags.ts';
import { changeTargets } from '../many/bulk/targets.ts';

/** Changes firmware version, note and tags: `PUT /api/devices/{deviceId}`. */
export const update = command({
  description: `An empty value clears the field: --note "". Tags that are not named do not change.\n${bulkDescription}`,
  args: [devicesArg('UPDATE')],
  flags: {
    'firmware-version': { value: 'VERSION', empty: true, aliases: ['firmware'], help: 'firmware version' },
    note: { value: 'TEXT', empty: true, help: 'note' },
    tag: tagFlag('set this tag; can be repeated'),
    'remove-tag': { value: 'NAME', many: true, field: 'tags', help: 'remove the tag of this name' },
    ...bulkFlags,
    ...pluggedFlag,
  },
  examples: {
    'after a firmware update': 'update DEV-1 --firmware-version 1.0.4',
    'clear the note': 'update DEV-1 --note ""',
    'set one tag and remove another': 'update DEV-1 --tag lot=7 --remove-tag shelf',
    'a tag of many devices': 'update --filter tag=lot=7 --tag site=berlin',
  },
  async run({ args, flags }, context) {
    const tags = tagChangesOf(flags.tag, flags.removeTag);
    if (flags.firmwareVersion === undefined && flags.note === undefined && tags === null)
      throw usage(
        'nothing to change',
        'add --firmware-version VERSION, --note TEXT, --tag NAME=VALUE or --remove-tag NAME',
      );
    const body = definedFields({
      firmwareVersion: clearable(flags.firmwareVersion),
      note: clearable(flags.note),
      tags: tags ?? undefined,
    });
    const change = { operation: 'UPDATE', names: args, flags, fields: async () => body } as const;
    return changeTargets(context, change, async deviceId => {
      const data = await context.registry.call('updateDevice', { params: { deviceId }, body });
      return present(context, {
        data,
        id: data.deviceId,
        title: `${safe(data.deviceId)} is updated`,
        rows: [
          ['firmware version', data.firmwareVersion === null ? '-' : safe(data.firmwareVersion)],
          ['note', data.note === null ? '-' : safeProse(data.note)],
          ['tags', tagWords(data).join('\n') || null],
        ],
      });
    });
  },
});

/** The change that the flags name; null if they name none. */
function tagChangesOf(set: readonly string[], remove: readonly string[]): TagChanges | null {
  if (set.length === 0 && remove.length === 0) return null;
  const tags = tagsOf(set);
  const removed = remove.map(name => tagNameOf('--remove-tag', name));
  const both = removed.find(name => Object.hasOwn(tags, name));
  if (both !== undefined) throw usage(`the tag ${both} is both set and removed`, 'omit one of the flags');
  return { ...tags, ...Object.fromEntries(removed.map(name => [name, null])) };
}
