/** What a search finds besides ids and serial numbers: the devices of a person. */
import { personsNamed } from '../../api/people.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { go } from '../../router.ts';
import { devices as listWords, text } from '../../text/words.ts';
import { addressWith, filterOf } from './query.ts';

const mostPersons = 5;

interface PersonsProps {
  /** A search that has found no id and no serial number. */
  readonly query: URLSearchParams;
}

/** Leads to the devices of the user of that name. If there are none, offers the persons whose name has the searched text. */
export function Persons({ query }: PersonsProps) {
  const keyword = query.get('keyword') ?? '';
  const addressOf = (userId: string) => addressWith(query, { keyword: '', userId });
  const found = useResource(async signal => {
    const filter = filterOf(new URLSearchParams(addressOf(keyword).split('?')[1]));
    const { pagination } = await call('listDevices', { query: { ...filter, size: 1 } }, { signal });
    if (pagination.total > 0) go(addressOf(keyword), true);
    if (pagination.total > 0) return [];
    return (await personsNamed(keyword, mostPersons, signal)).filter(({ devices }) => devices > 0);
  });
  return (
    <ul class="chips" aria-label={listWords.persons}>
      {found.data.value?.map(({ personId, userName, name, devices }) => (
        <li key={personId}>
          <a href={addressOf(userName)}>{name ?? userName}</a> {text.common.devices(devices)}
        </li>
      ))}
    </ul>
  );
}
