import { deviceListFields } from '../../../contract/values.ts';
import { command } from '../../framework/define.ts';
import { pageFlags } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { findPerson, personArg, personWords } from '../../framework/persons.ts';
import { pageQuery, presentPage } from '../../framework/present-list.ts';
import { safe } from '../../terminal/text.ts';
import { deviceColumns } from '../devices/list.ts';

/** Lists the devices of a person: `GET /api/devices/list`. */
export const peopleKeys = command({
  args: [personArg],
  flags: { ...pageFlags('keys'), ...listFlags(deviceListFields) },
  examples: [
    { does: 'the keys of a person, in any state', line: 'people keys ada.lovelace' },
    { does: 'their ids, for another command', line: 'people keys ada.lovelace --quiet' },
  ],
  async run({ args, flags }, context) {
    const person = await findPerson(context.registry, args[0]!);
    const query = { userId: person.userName, ...pageQuery(flags) };
    const data = await context.registry.call('listDevices', { query });
    const listing = { fields: deviceListFields, columns: deviceColumns(), id: 'deviceId' } as const;
    const none = `${safe(personWords(person))} has no keys.`;
    return presentPage(context, data, listing, { what: 'keys', none });
  },
});
