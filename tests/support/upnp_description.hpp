/// How a router that has UPnP describes itself.
#pragma once

namespace potluck {

constexpr char upnp_description[] = R"(<?xml version="1.0"?>
<root xmlns="urn:schemas-upnp-org:device-1-0"><device>
<deviceType>urn:schemas-upnp-org:device:InternetGatewayDevice:1</deviceType>
<deviceList><device>
<deviceType>urn:schemas-upnp-org:device:WANDevice:1</deviceType>
<serviceList><service>
<serviceType>urn:schemas-upnp-org:service:WANCommonInterfaceConfig:1</serviceType>
<controlURL>/common</controlURL><eventSubURL>/e</eventSubURL><SCPDURL>/s</SCPDURL>
</service></serviceList>
<deviceList><device>
<deviceType>urn:schemas-upnp-org:device:WANConnectionDevice:1</deviceType>
<serviceList><service>
<serviceType>urn:schemas-upnp-org:service:WANIPConnection:1</serviceType>
<controlURL>/ip</controlURL><eventSubURL>/e</eventSubURL><SCPDURL>/s</SCPDURL>
</service></serviceList>
</device></deviceList></device></deviceList></device></root>)";

} // namespace potluck
