package state_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"kolla.openstack.org/kolla/state"
)

// An apply announces an object, writes it to the cluster, and records it.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store := state.Open(filepath.Join(dir, state.DefaultFile))
	if err := apply(context.Background(), store); err != nil {
		fmt.Println(err)
		return
	}

	st, err := store.Read()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, object := range st.Objects {
		fmt.Println(object.Address, object.UID, object.Ready)
	}

	// Output:
	// service.keystone/Deployment/keystone-api 6a1f true
}

func apply(ctx context.Context, store *state.Store) (err error) {
	session, err := store.Lock(ctx, state.LockInfo{Operation: "apply", Version: "1.0.0"}, 0)
	if err != nil {
		return err
	}
	defer func() {
		if closed := session.Close(); err == nil {
			err = closed
		}
	}()
	st := session.State()
	if err := session.Begin(state.Run{
		Plan:    "plan-1",
		Cloud:   "prod",
		Cluster: state.Cluster{UID: "cluster-a"},
		Lineage: st.Lineage,
		Serial:  st.Serial,
	}); err != nil {
		return err
	}

	object := state.Object{
		Address:    "service.keystone/Deployment/keystone-api",
		APIVersion: "apps/v1",
		Kind:       "Deployment",
		Namespace:  "prod",
		Name:       "keystone-api",
	}
	object.Token = "8d20" // the created object carries it in an annotation
	if err := session.Intend(object); err != nil {
		return err
	}
	// Here the object is created in the cluster, which gives it a UID.
	object.UID, object.Token, object.Ready = "6a1f", "", true
	return session.Record(object)
}
