/** Figures about all devices. */
import { Type } from 'typebox';
import { additions } from './define.ts';
import { count, shown, timestamp } from './fields.ts';
import { type CountedTag, countedTags, deviceStatuses, deviceTypes, roles, statisticsRange } from './values.ts';

const counts = <const V extends readonly string[]>(names: V) =>
  Type.Object(Object.fromEntries(names.map(name => [name, count('number of devices')])) as CountFields<V>);
type CountFields<V extends readonly string[]> = Record<V[number], ReturnType<typeof count>>;

const buckets = (description: string) =>
  Type.Array(Type.Object({ start: timestamp('start of the interval, UTC'), count: count('registrations') }), {
    description,
  });

/** A common value of some devices, and how many they are in each state. */
const part = <const N extends string>(name: N, of: string) =>
  Type.Object({
    ...({ [name]: shown(of) } as Record<N, ReturnType<typeof shown>>),
    count: count('number of devices'),
    byStatus: counts(deviceStatuses),
  });
const most = `the ${statisticsRange.values} with the most devices, in this order`;
const partsOf = (tag: CountedTag) => Type.Array(part('value', `value of the tag ${tag}`), { description: most });

/** Figures. */
export const statisticsOperations = additions('Devices', {
  /** All figures are exact and of one moment. */
  getStatistics: {
    summary: 'Count devices',
    access: roles,
    strictQuery: true,
    data: Type.Object({
      total: count('number of devices'),
      byStatus: counts(deviceStatuses),
      byType: counts(deviceTypes),
      byManufacturer: Type.Array(
        Type.Object({ manufacturer: shown('manufacturer'), count: count('number of devices') }),
        {
          description: `the ${statisticsRange.manufacturers} with the most devices, in this order`,
        },
      ),
      registrations: Type.Object({
        perHour: buckets(`the last ${statisticsRange.hours} hours, the current one last`),
        perDay: buckets(`the last ${statisticsRange.days} days, the current one last`),
      }),
      statesPerDay: Type.Array(
        Type.Object({ start: timestamp('start of the day, UTC'), byStatus: counts(deviceStatuses) }),
        {
          description: `devices in each state at the end of each of the last ${statisticsRange.days} days; the last one: now`,
        },
      ),
      byModel: Type.Array(
        Type.Object({
          manufacturer: shown('manufacturer'),
          model: shown('model'),
          count: count('number of devices'),
          byStatus: counts(deviceStatuses),
        }),
        { description: most },
      ),
      byTag: Type.Object(
        Object.fromEntries(countedTags.map(tag => [tag, partsOf(tag)])) as Record<
          CountedTag,
          ReturnType<typeof partsOf>
        >,
      ),
      byAdvisory: Type.Array(part('advisory', 'security advisory that applies to the keys'), { description: most }),
      codesDue: count(
        `INACTIVE devices whose activation code has expired or expires within ${statisticsRange.dueDays} days`,
      ),
      codesExpiring: count(`INACTIVE devices whose activation code expires within ${statisticsRange.codesDays} days`),
      unused: count(
        `ACTIVE devices not used for ${statisticsRange.unusedDays} days, or never used and activated before that`,
      ),
      generatedAt: timestamp('when the figures were counted'),
    }),
  },
});
