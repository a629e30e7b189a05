/** Links to records and back, and the record that a page is about. */
import { computed, type ReadonlySignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { linkTo, place } from '../router.ts';

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

/** Leads from a record to the list of its kind. */
export const Back = ({ to, words }: { readonly to: string; readonly words: string }) => (
  <p>
    <a href={linkTo(to)}>← {words}</a>
  </p>
);

/** Leads to the page of a device. */
export const DeviceLink = ({ id }: { readonly id: string }) => (
  <a href={linkTo(`devices/${encodeURIComponent(id)}`)}>{id}</a>
);
