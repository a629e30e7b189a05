/** The page of a record of any list. */
import type { Resource } from '../api/resource.ts';
import { useTitle } from '../router.ts';
import type { PageName } from '../text/en.ts';
import { text } from '../text/words.ts';
import { History } from './history.tsx';
import { Back, useItem } from './item.tsx';
import { Loaded } from './loaded.tsx';
import { RecordActions, type RecordProps, RecordStory } from './record-sheet.tsx';
import { reporting } from './toast.ts';

interface RecordPageProps extends Omit<RecordProps, 'record'> {
  readonly path: PageName;
  // biome-ignore lint/suspicious/noExplicitAny: as those of its kind
  readonly all: Resource<{ readonly list: readonly any[] }>;
}

/** The record that the address names, by its key or another name. */
export function RecordPage({ path, kind, words, all }: RecordPageProps) {
  const id = useItem(path).value;
  const { keyOf, nameOf, aliases, columns, history } = kind;
  const list = all.data.value?.list;
  const record = list?.find(each => keyOf(each) === id) ?? list?.find(each => aliases?.(each).includes(id));
  useTitle(record && nameOf(record));
  const rest = { record, kind, words };
  return (
    <>
      <Back to={path} words={text.nav[path]} />
      <div class="bar">
        <h1>
          {record ? nameOf(record) : text.nav[path]} {record && columns.state?.(record)}
        </h1>
        <RecordActions {...rest} onDone={reporting(all.reload)} />
      </div>
      <Loaded from={all}>
        {() =>
          record ? (
            <RecordStory key={id} {...rest} onChanged={all.reload} left={['state']} />
          ) : (
            <>
              <p class="hint">{text.common.unknownRecord}</p>
              {history && <History key={id} {...history(id)} />}
            </>
          )
        }
      </Loaded>
    </>
  );
}
