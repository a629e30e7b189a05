/** One device. */
import { computed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useRefresh } from '../../api/refresh.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { GradeBadge, StatusBadge } from '../../parts/badge.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { linkTo, place } from '../../router.ts';
import { text } from '../../text/text.ts';
import { Facts } from './facts.tsx';
import { deviceWords } from './words.ts';

/** The device that the address names. It follows the changes of others. */
export function DevicePage() {
  const deviceId = useDeviceId();
  const { data, problem, loading, reload } = useResource(signal =>
    call('deviceDetail', { params: { deviceId: deviceId.value } }, { signal }),
  );
  useRefresh(reload, events => events.some(event => event.data.deviceId === deviceId.peek()));
  const device = data.value;
  return (
    <>
      <p>
        <a href={linkTo('devices')}>← {deviceWords.value.back}</a>
      </p>
      <div class="bar">
        <h1>
          {deviceId.value} {device && <StatusBadge status={device.status} />}{' '}
          {device?.proof && <GradeBadge grade={device.proof.grade} />}
        </h1>
      </div>
      <ProblemNotice problem={problem.value} retry={reload} />
      {!device && loading.value && <p role="status">{text.value.common.loading}</p>}
      {device && <Facts device={device} />}
    </>
  );
}

/** The id in the address. It stays on the way to another page, so that nothing is requested. */
function useDeviceId() {
  return useMemo(() => {
    let last = '';
    return computed(() => {
      const [page, id] = place.value.path;
      if (page === 'devices' && id !== undefined) last = id;
      return last;
    });
  }, []);
}
