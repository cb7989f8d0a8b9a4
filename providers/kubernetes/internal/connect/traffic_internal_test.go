package connect

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
)

// answering is a transport that answers at once, with a header.
type answering http.Header

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header(a), Body: http.NoBody}, nil
}

// TestLimit checks that requests to a server that schedules them are not delayed, and that other
// servers get 300 requests at once and then 50 a second.
func TestLimit(t *testing.T) {
	for name, test := range map[string]struct {
		header http.Header
		took   time.Duration
	}{
		"priority and fairness": {http.Header{http.CanonicalHeaderKey(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID): {"u"}}, 0},
		"neither":               {http.Header{}, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				traffic := newTraffic(nil)
				transport := traffic.wrap(answering(test.header))
				start := time.Now()
				for range 400 {
					if err := traffic.Wait(t.Context()); err != nil {
						t.Fatal(err)
					}
					request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example.org/", nil)
					if err != nil {
						t.Fatal(err)
					}
					response, err := transport.RoundTrip(request)
					if err != nil {
						t.Fatal(err)
					}
					_ = response.Body.Close()
				}
				if took := time.Since(start).Round(100 * time.Millisecond); took != test.took {
					t.Errorf("400 requests took %s, want %s", took, test.took)
				}
			})
		})
	}
}
