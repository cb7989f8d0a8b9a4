package connect

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// slowly is a transport whose requests take longer than a server may be silent.
type slowly struct{}

func (slowly) RoundTrip(*http.Request) (*http.Response, error) {
	time.Sleep(2 * silence)
	return &http.Response{StatusCode: http.StatusOK}, nil
}

// TestSilence checks that one slow request is no outage, as long as the server answers other
// requests.
func TestSilence(t *testing.T) {
	for name, test := range map[string]struct {
		probe func(*outage)
		told  int // number of reports: the outage, and its end
	}{
		"behind a slow webhook": {(*outage).answered, 0},
		"no server":             {func(o *outage) { o.failed(errors.New("time-out")) }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told := 0
				traffic := newTraffic(func(error) { told++ })
				traffic.probe = func(context.Context) { test.probe(&traffic.outage) }
				traffic.outage.answered()
				time.Sleep(time.Second)
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example.org/", nil)
				if err != nil {
					t.Fatal(err)
				}
				response, err := traffic.wrap(slowly{}).RoundTrip(request)
				if err != nil {
					t.Fatal(err)
				}
				if response.Body != nil {
					_ = response.Body.Close()
				}
				if told != test.told {
					t.Errorf("told %d times, want %d", told, test.told)
				}
			})
		})
	}
}
