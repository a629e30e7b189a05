/** Receipts: those of a device, or the loans that are overdue. */
import type { QueryOf } from '../../src/contract/define.ts';
import type { ListedReceipt } from '../../src/contract/receipts.ts';
import type { Routes } from '../../src/contract/routes.ts';
import { useRefresh } from '../api/live.ts';
import { call, type Data } from '../api/request.ts';
import { type Resource, useResource } from '../api/resource.ts';
import { grouped } from '../text/numbers.ts';
import { receipts as receiptWords } from '../text/words.ts';
import { FoldedSection } from './details.tsx';
import { DeviceLink, PersonLink } from './item.tsx';
import { Loaded } from './loaded.tsx';
import { Table } from './table.tsx';
import { Moment } from './time.tsx';

/** Receipts that one request shows. */
const SHOWN = 20;

const columns = {
  kind: ({ kind }: ListedReceipt) => receiptWords.kind[kind],
  device: ({ deviceId }: ListedReceipt) => <DeviceLink id={deviceId} />,
  person: ({ person, name }: ListedReceipt) => <PersonLink name={person}>{name ?? person}</PersonLink>,
  date: ({ date }: ListedReceipt) => <Moment at={date} />,
  due: ({ dueAt }: ListedReceipt) => dueAt && <Moment at={dueAt} />,
  receipt: ({ receiptId }: ListedReceipt) => receiptId,
};

const { device: _, ...ofOneDevice } = columns;
const classes = { date: 'minor', receipt: 'whole' };

/** The newest receipts that match, also after changes. */
export function useReceipts(query: QueryOf<Routes['listReceipts']>): Resource<Data<'listReceipts'>> {
  const resource = useResource(signal => call('listReceipts', { query: { ...query, size: SHOWN } }, { signal }));
  useRefresh(resource.reload, events =>
    events.some(({ type }) => type === 'RECEIPT_SIGNED' || type === 'LOAN_OVERDUE' || type === 'DEVICE_DEACTIVATED'),
  );
  return resource;
}

interface ReceiptTableProps {
  readonly page: Data<'listReceipts'>;
  readonly title: string;
  readonly isOfOneDevice?: boolean;
}

/** Receipts of a page that has some, and how many others there are. */
export function ReceiptTable({ page: { list, pagination }, title, isOfOneDevice }: ReceiptTableProps) {
  const more = pagination.total - list.length;
  return (
    <>
      <Table
        title={title}
        heads={receiptWords.column}
        columns={isOfOneDevice ? ofOneDevice : columns}
        classes={classes}
        rows={list}
        keyOf={({ receiptId }: ListedReceipt) => receiptId}
        isOneLine
      />
      {more > 0 && <p class="hint">{receiptWords.more(grouped(more))}</p>}
    </>
  );
}

/** The section of a device. */
export const ReceiptSection = ({ deviceId }: { readonly deviceId: string }) => (
  <FoldedSection title={receiptWords.title}>{() => <OfDevice deviceId={deviceId} />}</FoldedSection>
);

const OfDevice = ({ deviceId }: { readonly deviceId: string }) => (
  <Loaded from={useReceipts({ deviceId })}>
    {page => {
      if (page.list.length === 0) return <p class="hint">{receiptWords.none}</p>;
      return <ReceiptTable page={page} title={receiptWords.title} isOfOneDevice />;
    }}
  </Loaded>
);
