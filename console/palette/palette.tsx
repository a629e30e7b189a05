/** Layers that shortcuts open: one search over records, tags, pages and commands; and the list of keys. */
import { useSignal } from '@preact/signals';
import * as combobox from '@zag-js/combobox';

import { normalizeProps, useMachine } from '@zag-js/preact';
import type { TargetedEvent, TargetedKeyboardEvent } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { deviceIds } from '../../src/contract/ids.ts';
import { operationStates } from '../../src/contract/operation-states.ts';
import { searchWords } from '../../src/contract/search-words.ts';
import { personsNamed, usePaused } from '../api/people.ts';
import { call } from '../api/request.ts';
import { useResource } from '../api/resource.ts';
import { isAdmin } from '../api/session.ts';
import { allUsers } from '../pages/accounts/states.ts';
import { StatusBadge } from '../parts/badge.tsx';
import type { SingleOperation } from '../parts/device-columns.tsx';
import { CloseButton, Dialog } from '../parts/dialog.tsx';
import { lazyDialog } from '../parts/lazy.tsx';
import { modifier, opened } from '../parts/open.ts';
import { ProblemNotice } from '../parts/problem.tsx';
import { text as common, palette as words } from '../text/words.ts';
import {
  type Choice,
  choicesFor,
  choose,
  groupsOf,
  type NamedRecord,
  type PaletteResults,
  targetsOf,
} from './choices.ts';

const SHOWN_DEVICES = 6;
const SHOWN_PERSONS = 3;
const none: PaletteResults = { devices: [], persons: [] };

const close = () => (opened.value = null);

const ActionForm = lazyDialog(async () => (await import('../parts/action-form.tsx')).ActionForm);

/** The search, the form of an action or the list of keys. */
export function Palette() {
  const shown = opened.value;
  if (shown === 'keys') return <Keys />;
  // The pages follow the events of what is changed.
  if (typeof shown === 'object') return shown && <ActionForm {...shown} onDone={() => {}} onClose={close} />;
  return <Search key={shown} action={shown === 'search' ? null : shown} />;
}

/** Devices, and persons for roles that may read them; for an action, those that it applies to. One request each per pause. */
function useFound(typed: string, action: SingleOperation | null) {
  const asked = usePaused(typed);
  const found = useResource(async signal => {
    const keyword = asked.value;
    if (!keyword && !action) return { keyword, ...none };
    const hasWords = searchWords(keyword).length > 0;
    const status = action && { status: [...operationStates[action]] };
    const listed = async (query: object, size: number) =>
      (await call('listDevices', { query: { ...query, ...status, size } }, { signal })).list;
    // A device with exactly this id or serial number may be behind many that contain the text.
    const byId = deviceIds.parse(keyword.toUpperCase()) && { sortBy: 'deviceId', sortOrder: 'asc' };
    const [exact, devices, persons] = await Promise.all([
      keyword ? listed({ serialNumber: keyword }, 1) : [],
      hasWords || action ? listed({ ...(hasWords && { search: keyword }), ...byId }, SHOWN_DEVICES) : [],
      action ? [] : personsNamed(keyword, SHOWN_PERSONS, signal),
    ]);
    const others = devices.filter(({ deviceId }) => deviceId !== exact[0]?.deviceId);
    return { keyword, devices: [...exact, ...others].slice(0, SHOWN_DEVICES), persons };
  });
  const answer = found.data.value;
  return { found: answer?.keyword === typed ? answer : undefined, problem: found.problem };
}

/** Lots, stations and accounts, which are few: those that the role may read, asked for when the search opens. */
function useRecords(): readonly NamedRecord[] {
  const { data } = useResource(async signal => {
    const [{ byTag }, users] = await Promise.all([
      call('getStatistics', {}, { signal }),
      isAdmin.peek() ? allUsers(signal) : [],
    ]);
    const lines = (['lot', 'station'] as const).flatMap(tag =>
      byTag[tag].map(({ value }) => ({
        path: `${tag}s/${encodeURIComponent(value)}`,
        kind: words.kind[tag],
        name: value,
      })),
    );
    const accounts = users.map(({ id, username }) => ({
      path: `users/${id}`,
      kind: words.kind.account,
      name: username,
    }));
    return [...lines, ...accounts];
  });
  return data.value ?? [];
}

function take(choice: Choice | null | undefined): void {
  close();
  if (choice) choose(choice);
}

/**
 * Enter before the search has an answer, as a scanner types it, waits for the answer: it takes the device whose whole id or serial
 * number was typed, else what was marked. Any other key cancels that. Returns what handles a key, and whether it did.
 */
function useEarlyEnter(typed: string, choices: readonly Choice[], isSearching: boolean, markedKey: string | null) {
  const entered = useRef<{ readonly marked: Choice | undefined } | null>(null);
  useEffect(() => {
    if (isSearching || !entered.current) return;
    const named = choices.filter(({ names }) => names?.includes(typed.toLowerCase()));
    // The id of one device can be the serial number of another one: a person chooses.
    const chosen = named.length > 1 ? null : (named[0] ?? entered.current.marked ?? choices[0]);
    entered.current = null;
    if (chosen) take(chosen);
  }, [isSearching]);
  return (event: KeyboardEvent): boolean => {
    const marked = choices.find(({ key }) => key === markedKey);
    const isEarly = event.key === 'Enter' && !event.isComposing && (isSearching || !marked);
    entered.current = isEarly && isSearching ? { marked } : null;
    if (isEarly) event.preventDefault();
    if (isEarly && !isSearching && choices[0]) take(choices[0]);
    return isEarly;
  };
}

function useChoices(choices: readonly Choice[], typed: string): combobox.Api {
  const collection = combobox.collection({
    items: choices,
    itemToValue: ({ key }) => key,
    itemToString: choice => choice.words,
  });
  const service = useMachine(combobox.machine, {
    id: useId(),
    collection,
    open: true,
    disableLayer: true,
    selectionBehavior: 'preserve',
    closeOnSelect: false,
    onSelect: ({ itemValue }) => take(collection.find(itemValue)),
  });
  const api: combobox.Api = combobox.connect(service, normalizeProps);
  // The first choice is marked, until a person marks another one that stays.
  const firstKey = choices[0]?.key;
  const marked = useRef<string | undefined>(undefined);
  useEffect(() => {
    const present = api.highlightedValue;
    const isOther = present !== marked.current && choices.some(({ key }) => key === present);
    if (firstKey === undefined || isOther || present === firstKey) return;
    marked.current = firstKey;
    api.setHighlightValue(firstKey);
  }, [firstKey, typed]);
  return api;
}

function Search({ action }: { readonly action: SingleOperation | null }) {
  const text = useSignal('');
  const typed = text.value.trim();
  const { found, problem } = useFound(typed, action);
  const records = useRecords();
  const choices = action ? targetsOf(action, found?.devices ?? []) : choicesFor(typed, found ?? none, records);
  const title = action ? `${common.action[action]} …` : words.title;
  const api = useChoices(choices, typed);
  const { devices, label: pages } = common.nav;
  const groupNames = { devices, targets: devices, pages, ...words.group };
  // The field keeps its own value: the machine would put back that of the key before. The type of the library names roles that an
  // input cannot have.
  const props = api.getInputProps();
  const isEarly = useEarlyEnter(typed, choices, found === undefined && !problem.value, api.highlightedValue);
  const { value, defaultValue, ...input }: Record<string, unknown> = {
    ...props,
    onKeyDown: (event: TargetedKeyboardEvent<HTMLInputElement>) => isEarly(event) || props.onKeyDown?.(event),
    placeholder: action ? words.target(title) : words.hint,
    spellcheck: false,
    'aria-label': title,
    onInput: ({ currentTarget }: TargetedEvent<HTMLInputElement>) => (text.value = currentTarget.value),
  };
  const list = { ...api.getContentProps(), 'aria-label': title };
  return (
    <Dialog title={title} onClose={close}>
      <div {...api.getRootProps()} class="palette">
        <input {...input} />
        <div {...list}>
          {groupsOf(choices).map(([group, some]) => (
            <div key={group} {...api.getItemGroupProps({ id: group })}>
              <p {...api.getItemGroupLabelProps({ htmlFor: group })}>{groupNames[group]}</p>
              {some.map(item => (
                <Item key={item.key} item={item} api={api} />
              ))}
            </div>
          ))}
        </div>
        <p role="status" class="hint">
          {(typed || action) && found?.devices.length === 0 && words.none}
        </p>
        <ProblemNotice problem={problem.value} />
      </div>
    </Dialog>
  );
}

const Item = ({ item, api }: { readonly item: Choice; readonly api: combobox.Api }) => (
  <div {...api.getItemProps({ item })}>
    <span>{item.words}</span>
    {item.detail && <small>{item.detail}</small>}
    {item.status && <StatusBadge status={item.status} />}
  </div>
);

const Keys = () => (
  <Dialog title={words.keys} onClose={close}>
    <dl class="keys">
      {words.list(modifier()).map(([keys, does]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
    <CloseButton onClose={close} />
  </Dialog>
);
