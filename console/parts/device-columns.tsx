/** Columns of devices, and the actions in their menus. */
import type { DeviceListItem } from '../../src/contract/device-shapes.ts';
import { operationStates } from '../../src/contract/operation-states.ts';
import type { DeviceStatus } from '../../src/contract/values.ts';
import { text } from '../text/words.ts';
import { GradeBadge, StatusBadge } from './badge.tsx';
import { DeviceLink, PersonLink, TagLink } from './item.tsx';
import { Moment } from './time.tsx';

type Of<N extends keyof DeviceListItem> = Pick<DeviceListItem, N>;

/** Manufacturer and model, without a name that both have. */
export const modelOf = (manufacturer: string, model: string): string =>
  model.startsWith(manufacturer) ? model : `${manufacturer} ${model}`.trim();

/** The operations that the page of a device has a dialog for, in the order of menus; its tags are changed on the page. */
const singleOperations = ['ACTIVATE', 'LOCK', 'UNLOCK', 'GENERATE_CODE', 'DEACTIVATE'] as const;
/** One of them. */
export type SingleOperation = (typeof singleOperations)[number];

/** Actions that the state of a device allows, for a menu; nothing for one that is retired. */
export const operationsOf = (status: DeviceStatus, choose: (name: SingleOperation) => void) =>
  singleOperations
    .filter(name => (operationStates[name] as readonly string[]).includes(status))
    .map(name => ({
      words: `${text.action[name]} …`,
      isDangerous: name === 'DEACTIVATE',
      onChoose: () => choose(name),
    }));

/** The cells of a device, by column. */
export const deviceColumns = {
  device: ({ deviceId }: Of<'deviceId'>) => <DeviceLink id={deviceId} />,
  serial: ({ serialNumber }: Of<'serialNumber'>) => serialNumber,
  type: ({ deviceType }: Of<'deviceType'>) => text.type[deviceType],
  manufacturer: ({ manufacturer }: Of<'manufacturer'>) => manufacturer,
  model: ({ model }: Of<'model'>) => model,
  state: ({ status }: Of<'status'>) => <StatusBadge status={status} />,
  user: ({ userId, personId }: Of<'userId'> & { readonly personId?: string | null }) =>
    userId && <PersonLink personId={personId ?? null} name={userId} />,
  registered: ({ createdAt }: Of<'createdAt'>) => <Moment at={createdAt} />,
  used: ({ lastUsedAt }: Of<'lastUsedAt'>) => <Moment at={lastUsedAt} />,
  proof: ({ proof }: Of<'proof'>) => proof && <GradeBadge grade={proof.grade} />,
  tags: ({ tags }: Of<'tags'>) => <Tags tags={Object.entries(tags)} />,
};

/** Tags that a row shows, one where it has little room; the others are counted. */
const SHOWN_TAGS = 2;

function Tags({ tags }: { readonly tags: readonly (readonly [name: string, value: string])[] }) {
  const more = tags.length - SHOWN_TAGS;
  return (
    <span class="tags" {...(tags.length > 1 && { 'data-whole': tags.map(tag => tag.join(':')).join('\n') })}>
      {tags.slice(0, SHOWN_TAGS).map(([name, value]) => (
        <TagLink key={name} class="tag" name={name} value={value} />
      ))}
      {more > 0 && <span class="more">+{more}</span>}
      {tags.length > 1 && <span class="more fewer">+{tags.length - 1}</span>}
    </span>
  );
}
