package smoke

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha512"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gophercloud/gophercloud/v2"
)

const imageSize = 1 << 20

// image uploads random bytes, and compares what comes back.
func (t *trial) image(ctx context.Context) error {
	sent := make([]byte, imageSize)
	_, _ = rand.Read(sent) // never fails
	var made item
	body := map[string]any{"name": t.project.Name, "disk_format": "raw", "container_format": "bare", "visibility": "private"}
	if err := t.user.call(ctx, http.MethodPost, image, "images", body, &made); err != nil {
		return err
	}
	file := "images/" + made.ID + "/file"
	upload := &gophercloud.RequestOpts{RawBody: bytes.NewReader(sent), MoreHeaders: map[string]string{"Content-Type": "application/octet-stream"}}
	if _, err := t.user.send(ctx, http.MethodPut, image, file, upload); err != nil { //nolint:bodyclose // the library has closed it
		return err
	}
	if err := t.reach(ctx, "The image", image, "images/"+made.ID, "active"); err != nil {
		return err
	}
	answer, err := t.user.send(ctx, http.MethodGet, image, file, &gophercloud.RequestOpts{KeepResponseBody: true})
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // all that counts was read
	got := sha512.New()
	n, err := io.Copy(got, io.LimitReader(answer.Body, imageSize+1))
	if err != nil {
		return err
	}
	if want := sha512.Sum512(sent); !bytes.Equal(got.Sum(nil), want[:]) {
		return &faultError{problem: fmt.Sprintf("The downloaded image differs from the upload (%d of %d bytes).", n, imageSize)}
	}
	return nil
}

// thing is what services say about something that they make.
type thing struct {
	Status string
	State  string `json:"stack_status"`
	Reason string `json:"stack_status_reason"`
	Fault  struct{ Message string }
}

// reach waits until a thing has a state. Services but Glance answer with {"server": {...}}.
func (t *trial) reach(ctx context.Context, what, service, path, want string) error {
	return await(ctx, what, func() (bool, string, error) {
		var answer struct {
			thing
			Server, Volume, Stack *thing
		}
		if err := t.user.call(ctx, http.MethodGet, service, path, nil, &answer); err != nil {
			return false, "", err
		}
		got := cmp.Or(answer.Server, answer.Volume, answer.Stack, &answer.thing)
		state := got.Status + got.State
		if upper := strings.ToUpper(state); strings.Contains(upper, "ERROR") || strings.Contains(upper, "FAILED") || upper == "KILLED" {
			problem := fmt.Sprintf("%s is in state %s", what, state)
			if said := got.Fault.Message + got.Reason; said != "" {
				problem += ": " + strings.TrimSuffix(said, ".")
			}
			return false, "", &faultError{problem: problem + "."}
		}
		return state == want, state, nil
	})
}

// network makes a network with a router to the external network, and a security group that lets clients in on one
// port.
func (t *trial) network(ctx context.Context) error {
	var made struct {
		Network, Subnet, Router item
		Group                   item `json:"security_group"`
	}
	create := func(kind string, body map[string]any) error {
		return t.user.call(ctx, http.MethodPost, network, kind, body, &made)
	}
	if err := create("networks", map[string]any{"network": map[string]any{"name": t.project.Name}}); err != nil {
		return err
	}
	subnet := map[string]any{"name": t.project.Name, "network_id": made.Network.ID, "ip_version": 4, "cidr": "198.18.99.0/24"}
	if err := create("subnets", map[string]any{"subnet": subnet}); err != nil {
		return err
	}
	external, err := t.externalNetwork(ctx)
	if err != nil {
		return err
	}
	router := map[string]any{"name": t.project.Name}
	if external != "" {
		router["external_gateway_info"] = map[string]any{"network_id": external}
	}
	if err := create(routers, map[string]any{"router": router}); err != nil {
		return err
	}
	if err := t.user.call(ctx, http.MethodPut, network, routers+"/"+made.Router.ID+"/add_router_interface", map[string]any{"subnet_id": made.Subnet.ID}, nil); err != nil {
		return err
	}
	if err := create(groups, map[string]any{"security_group": map[string]any{"name": t.project.Name}}); err != nil {
		return err
	}
	rule := map[string]any{"security_group_id": made.Group.ID, "direction": "ingress", "ethertype": "IPv4", "protocol": "tcp", "port_range_min": discard, "port_range_max": discard}
	if err := create("security-group-rules", map[string]any{"security_group_rule": rule}); err != nil {
		return err
	}
	t.made.network, t.made.external, t.made.group = made.Network.ID, external, made.Group.ID
	return nil
}

// discard is a port on which no server listens: its kernel refuses connections, which is an answer, and nobody can
// log in meanwhile.
const discard = 9

// externalNetwork returns the ID of the external network; empty: the cloud has none.
func (t *trial) externalNetwork(ctx context.Context) (string, error) {
	if name := t.cloud.ExternalNetwork; name != "" {
		id, err := t.user.find(ctx, network, "networks", name)
		if err == nil && id == "" {
			err = &faultError{problem: fmt.Sprintf("There is no network %s (-external-network).", name)}
		}
		return id, err
	}
	var found struct{ Networks []item }
	err := t.user.call(ctx, http.MethodGet, network, "networks?router:external=true&sort_key=name&sort_dir=asc", nil, &found)
	if err != nil || len(found.Networks) == 0 {
		return "", err
	}
	return found.Networks[0].ID, nil
}

// server boots a server, and waits until it is active.
func (t *trial) server(ctx context.Context) error {
	image, size, err := t.sizes(ctx)
	if err != nil {
		return err
	}
	var made struct{ Server item }
	body := map[string]any{"server": map[string]any{
		"name": t.project.Name, "imageRef": image, "flavorRef": size.ID,
		"networks": []any{map[string]any{"uuid": t.made.network}}, "security_groups": []any{map[string]any{"name": t.made.group}},
	}}
	if err := t.user.call(ctx, http.MethodPost, compute, "servers", body, &made); err != nil {
		return err
	}
	if err := t.reach(ctx, "The server", compute, "servers/"+made.Server.ID, "ACTIVE"); err != nil {
		return err
	}
	t.made.server = made.Server.ID
	return nil
}

// console waits for a line on the console of the server.
func (t *trial) console(ctx context.Context) error {
	err := await(ctx, "The console of the server", func() (bool, string, error) {
		var log struct{ Output string }
		err := t.user.call(ctx, http.MethodPost, compute, "servers/"+t.made.server+"/action", map[string]any{"os-getConsoleOutput": map[string]any{"length": 20}}, &log)
		return strings.TrimSpace(log.Output) != "", "empty", err
	})
	return hint(err, "The image may write nothing to its serial console. Then name another one with -image, or leave the check out with -skip=console.", "")
}

// floatingIP makes a floating IP, gives it to the server, and waits for an answer. Before that nothing may answer: a
// firewall on the way may refuse connections, too.
func (t *trial) floatingIP(ctx context.Context) error {
	if t.made.external == "" {
		return &unmadeError{"The cloud has no external network."}
	}
	var found struct{ Ports []item }
	if err := t.user.call(ctx, http.MethodGet, network, "ports?device_id="+t.made.server, nil, &found); err != nil {
		return err
	}
	if len(found.Ports) == 0 {
		return &faultError{problem: "The server is active and has no port in Neutron."}
	}
	var made struct {
		IP struct {
			ID      string
			Address string `json:"floating_ip_address"`
		} `json:"floatingip"`
	}
	body := map[string]any{"floatingip": map[string]any{"floating_network_id": t.made.external}}
	if err := t.user.call(ctx, http.MethodPost, network, "floatingips", body, &made); err != nil {
		return err
	}
	if answers(ctx, made.IP.Address) {
		return &unmadeError{fmt.Sprintf("Something answers at floating IP %s before the server has it, such as a firewall that refuses connections. An answer of the server would look the same.", made.IP.Address)}
	}
	body = map[string]any{"floatingip": map[string]any{"port_id": found.Ports[0].ID}}
	if err := t.user.call(ctx, http.MethodPut, network, "floatingips/"+made.IP.ID, body, &made); err != nil {
		return err
	}
	err := await(ctx, "Floating IP "+made.IP.Address, func() (bool, string, error) {
		return answers(ctx, made.IP.Address), "without an answer", nil
	})
	return hint(err, "If this machine does not reach the external network, leave the check out with -skip=floating-ip.", "kolla logs neutron ovn-controller -errors")
}

// answers reports whether something at an address accepts or refuses a connection.
func answers(ctx context.Context, address string) bool {
	dialer := net.Dialer{Timeout: 2 * time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(discard)))
	if err == nil {
		_ = conn.Close() // nothing was written
	}
	return err == nil || errors.Is(err, syscall.ECONNREFUSED)
}

// volume makes a volume.
func (t *trial) volume(ctx context.Context) error {
	var made struct{ Volume item }
	if err := t.user.call(ctx, http.MethodPost, volume, "volumes", map[string]any{"volume": map[string]any{"name": t.project.Name, "size": 1}}, &made); err != nil {
		return err
	}
	if err := t.volumeIs(ctx, made.Volume.ID, "available"); err != nil {
		return err
	}
	t.made.volume = made.Volume.ID
	return nil
}

func (t *trial) volumeIs(ctx context.Context, id, state string) error {
	return t.reach(ctx, "The volume", volume, "volumes/"+id, state)
}

// attachment gives the volume to the server, and takes it back.
func (t *trial) attachment(ctx context.Context) error {
	path := "servers/" + t.made.server + "/os-volume_attachments"
	if err := t.user.call(ctx, http.MethodPost, compute, path, map[string]any{"volumeAttachment": map[string]any{"volumeId": t.made.volume}}, nil); err != nil {
		return err
	}
	if err := t.volumeIs(ctx, t.made.volume, "in-use"); err != nil {
		return err
	}
	if err := t.user.call(ctx, http.MethodDelete, compute, path+"/"+t.made.volume, nil, nil); err != nil {
		return err
	}
	return t.volumeIs(ctx, t.made.volume, "available")
}

// secret stores a random text in Barbican, reads it, and compares both.
func (t *trial) secret(ctx context.Context) error {
	text := rand.Text()
	t.cloud.Hide(text)
	var made item
	body := map[string]any{"name": t.project.Name, "payload": text, "payload_content_type": "text/plain", "secret_type": "opaque"}
	if err := t.user.call(ctx, http.MethodPost, secret, "secrets", body, &made); err != nil {
		return err
	}
	answer, err := t.user.send(ctx, http.MethodGet, secret, "secrets/"+last(made.SecretRef)+"/payload",
		&gophercloud.RequestOpts{KeepResponseBody: true, MoreHeaders: map[string]string{"Accept": "text/plain"}})
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // all that counts was read
	got, err := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	if err == nil && string(got) != text {
		err = &faultError{problem: "The secret that Barbican returns differs from the stored one."}
	}
	return err
}

// stack makes a stack.
func (t *trial) stack(ctx context.Context) error {
	template := map[string]any{
		"heat_template_version": "2018-08-31",
		"resources":             map[string]any{"word": map[string]any{"type": "OS::Heat::RandomString"}},
	}
	var made struct{ Stack item }
	if err := t.user.call(ctx, http.MethodPost, stack, "stacks", map[string]any{"stack_name": t.project.Name, "template": template}, &made); err != nil {
		return err
	}
	return t.reach(ctx, "The stack", stack, "stacks/"+t.project.Name+"/"+made.Stack.ID, "CREATE_COMPLETE")
}

// dashboard opens the page on which users log in. Horizon redirects to it.
func (t *trial) dashboard(ctx context.Context) error {
	page := t.cloud.Services[Dashboard].URL
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return err
	}
	client := t.cloud.http()
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // all that counts was read
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	switch {
	case err != nil:
		return err
	case answer.StatusCode != http.StatusOK:
		return gophercloud.ErrUnexpectedResponseCode{Method: http.MethodGet, URL: page, Actual: answer.StatusCode, ResponseHeader: answer.Header}
	case !bytes.Contains(text, []byte(`name="password"`)):
		return &faultError{problem: fmt.Sprintf("The page at %s has no field for a password.", page)}
	}
	return nil
}
