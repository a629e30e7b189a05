/** Links to records and back, and the record that a page is about. */
import { computed, type ReadonlySignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { isAdmin, mayChange } from '../api/session.ts';
import { lastOf, linkTo, place } from '../router.ts';
import type { PageName } from '../text/en.ts';

/** The id in the address of a page. It stays on the way to another page, so that nothing is requested. */
export function useItem(page: string): ReadonlySignal<string> {
  return useMemo(() => {
    let last = '';
    return computed(() => {
      const [name, id] = place.value.path;
      if (name === page && id !== undefined) last = id;
      return last;
    });
  }, []);
}

/** Leads from a record to the list of its kind, as it was left. */
export const Back = ({ to, words }: { readonly to: string; readonly words: string }) => (
  <p>
    <a href={lastOf(to)}>← {words}</a>
  </p>
);

type RecordLinkProps = Readonly<{ page: PageName; id: string; name?: ComponentChildren }>;

/** Leads to the page of a record. */
export const RecordLink = ({ page, id, name = id }: RecordLinkProps) => (
  <a href={linkTo(`${page}/${encodeURIComponent(id)}`)}>{name}</a>
);

/** Leads to the page of a device. */
export const DeviceLink = ({ id }: { readonly id: string }) => <RecordLink page="devices" id={id} />;

/** Leads to the page of a person; to the keys under the name if it is not one of a person, or the role has no page of persons. */
export const PersonLink = ({ personId, name, children = name }: Readonly<PersonLinkProps>) => (
  <a href={personId && mayChange.value ? linkTo(`people/${personId}`) : linkTo('devices', { userId: name })}>
    {children}
  </a>
);
type PersonLinkProps = { personId?: string | null; name: string; children?: ComponentChildren };

/** Pages of what can act. A program has none. */
const actorPages: Readonly<Record<string, PageName>> = {
  user: 'users',
  token: 'tokens',
  directory: 'providers',
  provider: 'providers',
};

/** Leads to who has done something, by name. That of a program may come after its kind, as in `token:`. */
export function ActorLink({ name, kind = kindOf(name), shown = name }: Readonly<ActorProps>) {
  if (name === null) return null;
  const page = actorPages[kind];
  const id = kind === 'user' ? name : name.replace(`${kind}:`, '');
  return page && isAdmin.value ? <RecordLink {...{ page, id, name: shown ?? name }} /> : shown;
}
type ActorProps = { name: string | null; kind?: string; shown?: string | null };
const kindOf = (name: string | null) => Object.keys(actorPages).find(kind => name?.startsWith(`${kind}:`)) ?? 'user';

/** Leads to the lot or station that a tag names, else to the devices with the tag. */
export const TagLink = ({ name, value, ...rest }: Readonly<{ name: string; value: string; class?: string }>) => (
  <a
    {...rest}
    href={
      name === 'lot' || name === 'station'
        ? linkTo(`${name}s/${encodeURIComponent(value)}`)
        : linkTo('devices', { tag: `${name}:${value}` })
    }
  >
    {name}:{value}
  </a>
);

/** Characters of an address that a row shows: its beginning with the host, and its end, which tells several apart. */
const shownAddress = { first: 20, last: 16 };

/** An address. A long one is cut in the middle; the whole one is at the pointer and at the focus. */
export function Address({ value }: { readonly value: string }) {
  const { first, last } = shownAddress;
  if (value.length <= first + last + 1) return <span class="code">{value}</span>;
  return (
    <span class="code" data-whole={value}>
      {value.slice(0, first)}…{value.slice(-last)}
    </span>
  );
}
