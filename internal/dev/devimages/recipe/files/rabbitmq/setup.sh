# What the package generates differs from build to build, and Kolla's image has none.
if [ -d /var/lib/rabbitmq ]; then find /var/lib/rabbitmq -mindepth 1 -delete; fi
rm -f /etc/rabbitmq/rabbitmq-env.conf /etc/default/rabbitmq-server
install -d -m 0755 -o rabbitmq -g rabbitmq /etc/rabbitmq /var/lib/rabbitmq /var/log/rabbitmq
