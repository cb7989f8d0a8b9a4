package podlogs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"kolla.openstack.org/kolla/internal/run/podlogs"
)

// reader answers with texts by container, one after the other. The last text of a container ends
// when the context ends.
type reader struct {
	texts map[string][]string
	asked []string
	goOn  bool
}

func (r *reader) Log(ctx context.Context, _, pod string, o *corev1.PodLogOptions) (io.ReadCloser, error) {
	name := pod + "/" + o.Container
	asked := name
	if o.TailLines != nil {
		asked += fmt.Sprint(" tail ", *o.TailLines)
	}
	if o.SinceTime != nil {
		asked += " since " + o.SinceTime.UTC().Format(time.TimeOnly)
	}
	r.asked = append(r.asked, asked)
	texts := r.texts[name]
	if len(texts) == 0 {
		return nil, errors.New("no log")
	}
	if len(texts) > 1 || !r.goOn {
		r.texts[name] = texts[1:]
		return io.NopCloser(strings.NewReader(texts[0])), nil
	}
	text, rest := io.Pipe()
	go func() {
		_, _ = io.WriteString(rest, texts[0])
		<-ctx.Done()
		_ = rest.Close()
	}()
	return text, nil
}

func at(second int, text string) string {
	return fmt.Sprintf("2026-11-27T12:00:%02d.5Z %s\n", second, text)
}

func TestRead(t *testing.T) {
	a, b, c := podlogs.Container{Pod: "a", Name: "api", Alone: true}, podlogs.Container{Pod: "b", Name: "api"}, podlogs.Container{Pod: "c", Name: "api"}
	r := &reader{texts: map[string][]string{
		"a/api": {at(1, "one") + at(3, "three") + "  no time\n"},
		"b/api": {at(2, "two") + at(4, "") + strings.TrimSuffix(at(5, "five"), "\n")},
	}}
	lines, err := podlogs.Read(t.Context(), r, []podlogs.Container{a, b, c}, podlogs.Options{Tail: -1})
	if err == nil || err.Error() != "read the log of c/api: no log" {
		t.Errorf("error %v", err)
	}
	var got []string
	for _, l := range lines {
		got = append(got, l.Container.String()+": "+l.Text)
	}
	if diff := cmp.Diff([]string{"a: one", "b/api: two", "a: three", "a:   no time", "b/api: ", "b/api: five"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFollow checks that an answer that ended goes on after its last line, that a new container is
// read from its beginning, and that the end of the context is no error.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := podlogs.Container{Pod: "a", Name: "api", Running: true, Alone: true}
		again := a
		again.Restarts = 1
		stopped := podlogs.Container{Pod: "b", Name: "api"}
		r := &reader{goOn: true, texts: map[string][]string{
			"a/api": {at(1, "one") + at(2, "two"), at(2, "two") + at(3, "three"), at(9, "restarted")},
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		looks := 0
		find := func(context.Context) ([]podlogs.Container, error) {
			if looks++; looks > 4 {
				return []podlogs.Container{again, stopped}, nil
			}
			if looks > 2 {
				return nil, nil
			}
			return []podlogs.Container{a, stopped}, nil
		}
		var got []string
		err := podlogs.Follow(ctx, r, find, podlogs.Options{Tail: 7},
			func(l podlogs.Line) { got = append(got, l.Text) },
			func(err error) { t.Error(err) })
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"one", "two", "three", "restarted"}, got); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"a/api tail 7", "a/api since 12:00:02", "a/api"}, r.asked); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}

func TestOf(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Name = "p"
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{
		{Name: "api", RestartCount: 2, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}},
		{Name: "new", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}},
	}
	for previous, want := range map[bool]string{false: "[p/init p/api]", true: "[p/api]"} {
		if got := fmt.Sprint(podlogs.Of([]*corev1.Pod{pod}, previous)); got != want {
			t.Errorf("previous %t: %s, want %s", previous, got, want)
		}
	}
}
