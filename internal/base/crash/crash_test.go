package crash_test

import (
	"errors"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/base/crash"
)

func TestCatch(t *testing.T) {
	failed := errors.New("failed")
	if err := crash.Catch(func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("error %v", err)
	}
	if err := crash.Catch(func() error { return nil }); err != nil {
		t.Errorf("error %v", err)
	}
	var bug *crash.Error
	err := crash.Catching(func() error { panic("hunter2") })()
	if !errors.As(err, &bug) || bug.Value != "hunter2" || !strings.Contains(string(bug.Stack), "TestCatch") {
		t.Fatalf("error %#v", err)
	}
	if err.Error() != "a bug in kolla" {
		t.Errorf("the error shows %q", err)
	}
	var none []int
	at := 0
	if err := crash.Catch(func() error { return errors.New(string(rune(none[at]))) }); !strings.Contains(err.Error(), "index out of range [0]") {
		t.Errorf("error %v", err)
	}
}
